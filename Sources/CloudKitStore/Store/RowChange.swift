/// A change that the server made to a row of this device.
public struct RowChange: Hashable, Sendable {
    /// The kinds of changes.
    public enum Kind: String, Hashable, Sendable {
        /// The row is new here.
        case inserted
        /// The row has other values.
        case updated
        /// The row was deleted.
        case deleted
    }

    /// The kind of change.
    public var kind: Kind
    /// The table's name.
    public var table: String
    /// The row's key: the value as text, bytes in hexadecimal, several columns as a JSON array.
    public var key: String

    init(_ kind: Kind, _ key: RowKey) {
        self.kind = kind
        table = key.table
        self.key = key.text
    }
}
