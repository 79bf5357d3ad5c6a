/// The meaning of a column's values, which determines the type of the field that holds them.
///
/// The store derives the form from a column's declared type. Declare a form when the type is not
/// specific enough: a text column that holds JSON, or a number that is a date.
public enum ColumnForm: Hashable, Sendable {
    /// Integers, as an integer field.
    case integer
    /// True and false, as an integer field.
    case boolean
    /// Floating-point numbers, as a double field.
    case real
    /// Text, as a string field.
    case text
    /// Bytes, as a bytes field.
    case bytes
    /// Dates as text in UTC, usually as GRDB stores them, `YYYY-MM-DD HH:MM:SS.SSS`, as a date field.
    case date
    /// Dates as seconds since 1970, as a date field with whole milliseconds.
    case secondsSince1970
    /// Identifiers of 16 bytes, or their usual notation, as a string field.
    case uuid
    /// Decimal numbers, as a string field, which loses no digits.
    case decimal
    /// A JSON array of strings, or of numbers, as a list field.
    case list
    /// A JSON object with `latitude` and `longitude`, as a location field.
    case location
    /// Bytes, as an asset. Columns listed in ``SyncedTable/assets`` have this form.
    case asset

    /// Creates the form that a declared type implies; nil if it implies none.
    ///
    /// The recognized names are those of SQLite's documentation and GRDB's column types.
    package init?(declaredType: String) {
        let type = declaredType.uppercased()
        let name = type.prefix { $0 != "(" }.split(separator: " ").joined(separator: " ")
        switch name {
        case "": return nil
        case "BOOLEAN", "BOOL": self = .boolean
        case "DATE", "DATETIME", "TIMESTAMP": self = .date
        case "UUID": self = .uuid
        case "DECIMAL", "NUMERIC": self = .decimal
        case "JSON", "JSONTEXT": self = .text
        case _ where name.contains("INT"): self = .integer
        case _ where ["CHAR", "CLOB", "TEXT"].contains(where: name.contains): self = .text
        case _ where name.contains("BLOB"): self = .bytes
        case _ where ["REAL", "FLOA", "DOUB"].contains(where: name.contains): self = .real
        default: return nil
        }
    }
}
