/// A column of a synced table, as the live schema and the declaration have it.
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
    /// The table whose rows' records the field refers to, when it is the one column of a foreign
    /// key onto that table's key.
    var target: String?

    /// Whether a record without a value for the field leaves nothing that could be written.
    var needsValue: Bool { isNotNull && !hasDefault }

    /// Whether a record without a value for the field leaves the column's default, so that NULL must
    /// be said.
    var saysNull: Bool { hasDefault && !isNotNull && form != .asset }
}
