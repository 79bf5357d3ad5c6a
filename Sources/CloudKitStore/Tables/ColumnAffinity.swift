import GRDB

/// The conversion that SQLite applies to values written into a column, derived from its declared type.
enum ColumnAffinity: Hashable, Sendable {
    case text
    case numeric
    case integer
    case real
    case none

    /// Creates the affinity of a declared type, by the rules of SQLite's documentation.
    init(declaredType: String) {
        let type = declaredType.uppercased()
        if type.contains("INT") {
            self = .integer
        } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
            self = .text
        } else if type.isEmpty || type.contains("BLOB") || type == "ANY" {
            self = .none
        } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
            self = .real
        } else {
            self = .numeric
        }
    }

    /// `true` when the column keeps numbers as numbers.
    var keepsNumbers: Bool { self == .numeric || self == .integer || self == .real }

    /// Returns a value as the column stores it, as far as that is certain.
    func stored(_ value: DatabaseValue) -> DatabaseValue {
        switch (self, value.storage) {
        case (.text, .int64(let number)): String(number).databaseValue
        case (.real, .int64(let number)): Double(number).databaseValue
        case (.numeric, .double(let number)), (.integer, .double(let number)):
            Self.whole(number)?.databaseValue ?? value
        default: value
        }
    }

    /// Returns the integer that a column stores instead of a floating-point number.
    private static func whole(_ number: Double) -> Int64? {
        abs(number) < 0x1p53 && (number != 0 || number.sign == .plus)
            ? Int64(exactly: number) : nil
    }

    /// Returns the number that the column stores for a text; nil if it stays text.
    func number(_ text: String) -> DatabaseValue? {
        guard keepsNumbers, let first = text.utf8.first,
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) || first == UInt8(ascii: "-")
        else { return nil }
        if let whole = Int64(text) { return stored(whole.databaseValue) }
        guard !text.utf8.contains(UInt8(ascii: "x")), !text.utf8.contains(UInt8(ascii: "X")),
            let number = Double(text), number.isFinite
        else { return nil }
        return stored(number.databaseValue)
    }
}
