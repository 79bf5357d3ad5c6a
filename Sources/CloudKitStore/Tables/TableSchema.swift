/// A synced table: its columns, keys and rules.
///
/// A class, so that objects created for each of its rows hold it at the cost of one reference.
final class TableSchema: Sendable {
    let declaration: SyncedTable
    /// The synced columns, in the order of the table.
    let columns: [TableColumn]
    /// The columns of the key, in the order of the key.
    let keyColumns: [TableColumn]
    let foreignKeys: [ForeignKey]

    var name: String { declaration.name }
    var recordType: String { declaration.recordType }

    /// The columns whose values are fields: all except those that only the record's name holds.
    let fieldColumns: [TableColumn]
    /// The columns whose values are assets.
    let assetColumns: [TableColumn]
    /// The columns by field.
    let byField: [String: TableColumn]
    private let once: Set<String>
    private let hasNulls: Bool
    private let places: [String: Int]
    /// The SQL that runs for every row.
    let sql: RowSQL

    init(
        declaration: SyncedTable,
        columns: [TableColumn],
        keyColumns: [TableColumn],
        foreignKeys: [ForeignKey] = []
    ) {
        self.declaration = declaration
        self.columns = columns
        self.keyColumns = keyColumns
        self.foreignKeys = foreignKeys
        fieldColumns = columns.filter { !($0.isKey && declaration.recordNames == .key) }
        assetColumns = columns.filter { $0.form == .asset }
        byField = Dictionary(columns.map { ($0.field, $0) }) { first, _ in first }
        once = Set(columns.filter { Self.isComparedAlone($0, declaration) }.map(\.field))
        hasNulls = columns.contains(where: \.saysNull)
        places = Dictionary(columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
        sql = RowSQL(table: declaration.name, columns: columns, keyColumns: keyColumns)
    }

    /// Returns whether no value of a field means NULL rather than the column's default.
    func saysNull(_ field: String) -> Bool { hasNulls && byField[field]?.saysNull == true }

    /// Returns the table with updated columns and foreign keys.
    func with(columns: [TableColumn], foreignKeys: [ForeignKey]) -> TableSchema {
        TableSchema(
            declaration: declaration,
            columns: columns,
            keyColumns: keyColumns.map { key in columns.first { $0.name == key.name } ?? key },
            foreignKeys: foreignKeys
        )
    }

    /// `true` when the record's name is the key, which then is not a field.
    var isNamedByKey: Bool { declaration.recordNames == .key }

    var isPublic: Bool { declaration.database == .public }

    /// The column that refers to the row with which a row is shared.
    var parentColumn: TableColumn? {
        if let name = declaration.parent { return column(name) }
        let references = columns.filter { $0.target != nil }
        let cascades = references.first { column in
            foreignKeys.contains { $0.columns == [column.name] && $0.deletion == .cascade }
        }
        return cascades ?? references.first
    }

    func column(_ name: String) -> TableColumn? { place(of: name).map { columns[$0] } }

    /// Returns the position of a column among the synced ones.
    func place(of name: String) -> Int? { places[name] }

    func rule(ofField field: String) -> MergeRule {
        guard let column = byField[field] else { return declaration.rule }
        return declaration.fieldRules[column.name] ?? declaration.rule
    }

    /// Returns whether a field's previous value serves only to detect a change, so that it need not
    /// be stored if the row holds it.
    func keepsOnce(_ field: String) -> Bool { once.contains(field) }

    private static func isComparedAlone(_ column: TableColumn, _ declaration: SyncedTable) -> Bool {
        guard column.form != .asset else { return false }
        return switch declaration.fieldRules[column.name] ?? declaration.rule {
        case .counter, .set, .custom: false
        case .laterEdit, .server, .client, .minimum, .maximum: true
        }
    }

    /// A description of the columns and their fields, for the detection of an upgrade.
    var fingerprint: String {
        columns.map { "\($0.name)=\($0.field):\($0.form)" }.sorted().joined(separator: " ")
    }
}

extension String {
    /// The name, quoted for SQL.
    var quoted: String {
        // Most names have nothing to replace, and looking is cheaper than replacing.
        utf8.contains(UInt8(ascii: "\""))
            ? "\"" + replacing("\"", with: "\"\"") + "\"" : "\"\(self)\""
    }

    /// The text as an SQL literal.
    var literal: String { "'" + replacing("'", with: "''") + "'" }
}
