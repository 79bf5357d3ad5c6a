import GRDB

/// A portion of values for one execution of a statement with a fixed number of parameters, because
/// a statement for every number of values would be cached.
enum Portion {
    private static let size = 100

    /// The parameters for one portion.
    static let marks = repeatElement("?", count: size).joined(separator: ", ")

    /// Returns the values in portions; the last one is padded with its own values.
    static func of(_ values: [some DatabaseValueConvertible]) -> [StatementArguments] {
        stride(from: 0, to: values.count, by: size).map { start in
            var portion = Array(values[start..<min(start + size, values.count)])
            while portion.count < size { portion.append(portion[0]) }
            return StatementArguments(values: portion.map { $0.databaseValue })
        }
    }
}

extension StatementArguments {
    /// Creates arguments from values in the order of the question marks.
    ///
    /// GRDB's generic initializer reads each element through a key path, which takes longer than
    /// binding it.
    init(values: [DatabaseValue]) {
        self.init(values.map { $0 as (any DatabaseValueConvertible)? })
    }
}
