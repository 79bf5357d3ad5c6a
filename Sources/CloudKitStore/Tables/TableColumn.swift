/// A column of a synced table, as described by the live schema and the declaration.
struct TableColumn: Hashable, Sendable {
    var name: String
    var field: String
    var form: ColumnForm
    var affinity = ColumnAffinity.none
    var isKey = false
    var isNotNull = false
    var hasDefault = false
    var isEncrypted = false
    var download: AssetDownload?
    /// The table whose records the field refers to, if this is the only column of a foreign key to
    /// that table's key.
    var target: String?

    /// `true` when the column cannot be written for a record without a value for the field.
    var needsValue: Bool { isNotNull && !hasDefault }

    /// `true` when a record without a value for the field leaves the column's default, so NULL must
    /// be explicit.
    var saysNull: Bool { hasDefault && !isNotNull && form != .asset }
}
