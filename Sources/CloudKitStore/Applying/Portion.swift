import GRDB

/// Splits values among executions of one statement, which has so many marks: a statement for every
/// number of values would be kept for each.
enum Portion {
    private static let size = 100

    /// The marks for a portion's values.
    static let marks = repeatElement("?", count: size).joined(separator: ", ")

    /// The values in portions; the last one is filled up with what it has already.
    static func of(_ values: [some DatabaseValueConvertible]) -> [StatementArguments] {
        stride(from: 0, to: values.count, by: size).map { start in
            var portion = Array(values[start..<min(start + size, values.count)])
            while portion.count < size { portion.append(portion[0]) }
            return StatementArguments(values: portion.map { $0.databaseValue })
        }
    }
}
