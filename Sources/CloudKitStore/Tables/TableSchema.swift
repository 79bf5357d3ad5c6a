import GRDB

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
    /// The format of the records where another client determines it; nil for the store's own.
    let format: RecordFormat?
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
        format = declaration.format
        hasNulls = format == nil && columns.contains(where: \.saysNull)
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

    /// The column that refers to the row with which a row is shared; nil where another client determines the
    /// format, which shares whole zones.
    var parentColumn: TableColumn? {
        if format != nil { return nil }
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

    /// Returns whether a field can be sent again from a version of the record alone: an asset cannot.
    func isRestorable(_ field: String) -> Bool {
        byField[field].map { $0.form != .asset && !$0.isKey } ?? false
    }

    func rule(ofField field: String) -> MergeRule {
        guard let column = byField[field] else { return declaration.rule }
        return declaration.fieldRules[column.name] ?? declaration.rule
    }

    /// Returns whether a field's previous value serves only to detect a change, so that it need not
    /// be stored if the row holds it.
    func keepsOnce(_ field: String) -> Bool { once.contains(field) }

    private static func isComparedAlone(_ column: TableColumn, _ declaration: SyncedTable) -> Bool {
        guard column.form != .asset else { return false }
        // An object keeps its kind, which must be known to refuse another.
        guard column.field != declaration.format?.kinds?.field else { return false }
        return switch declaration.fieldRules[column.name] ?? declaration.rule {
        case .counter, .set, .custom: false
        case .laterEdit, .server, .client, .minimum, .maximum: true
        }
    }

    /// A description of the columns, their fields and the record type, for the detection of an upgrade.
    var fingerprint: String {
        let columns = columns.map { "\($0.name)=\($0.field):\($0.form)" }
        return (columns + [Self.mark(ofType: recordType)]).sorted().joined(separator: " ")
            + (format == nil ? "" : Self.formatMark)
    }

    /// The end of the fingerprint of a table whose records' format another client determines.
    private static let formatMark = " =format:1"

    /// Returns whether the table's records have to be read again, because the previous version of the app did not know
    /// their format, from its fingerprint of the table.
    func readsOtherwise(than fingerprint: String) -> Bool {
        format != nil && !fingerprint.hasSuffix(Self.formatMark)
    }

    /// Returns the record type's part of a fingerprint; that of a column has a name before the first sign.
    static func mark(ofType type: String) -> String { "=\(type)" }
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

/// A column of a synced table, as described by the live schema and the declaration.
struct TableColumn: Hashable, Sendable {
    var name: String
    var field: String
    var form: ColumnForm
    var affinity = ColumnAffinity.none
    var isKey = false
    var isNotNull = false
    var hasDefault = false
    /// The default as the column stores it; nil for none, and for one that calls a function.
    var standard: DatabaseValue?
    var isEncrypted = false
    var download: AssetDownload?
    /// The notation in records whose format another client determines; nil for the store's own format.
    var notation: RecordFormat.Notation?
    /// The table whose records the field refers to, if this is the only column of a foreign key to
    /// that table's key.
    var target: String?

    /// `true` when the column cannot be written for a record without a value for the field.
    var needsValue: Bool { isNotNull && !hasDefault }

    /// `true` when a record without a value for the field leaves the column's default, so NULL must
    /// be explicit.
    var saysNull: Bool { hasDefault && !isNotNull && form != .asset }
}

/// A foreign key between synced tables.
struct ForeignKey: Hashable, Sendable {
    /// The action of SQLite on a row whose parent is deleted.
    enum Action: String, Sendable {
        case cascade = "CASCADE"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
        case restrict = "RESTRICT"
        case noAction = "NO ACTION"
    }

    var columns: [String]
    var parent: String
    var parentColumns: [String]
    var deletion: Action
}

/// The statements that find a table's rows, built once because they run for every row.
struct RowSQL: Sendable {
    /// `"key" = ? AND …`.
    let condition: String
    /// `SELECT columns FROM table WHERE `, to be followed by a condition.
    let selectWhere: String
    /// The statement that selects the row of a key.
    let select: String
    /// The statement that inserts a row with values for the other columns, followed by the key's.
    let insert: String
    /// The statement that deletes the row of a key.
    let delete: String

    init(table: String, columns: [TableColumn], keyColumns: [TableColumn]) {
        let list = columns.map(\.name.quoted).joined(separator: ", ")
        condition = keyColumns.map { "\($0.name.quoted) = ?" }.joined(separator: " AND ")
        selectWhere = "SELECT \(list) FROM \(table.quoted) WHERE "
        select = selectWhere + condition
        insert = Self.insert(
            columns.filter { !$0.isKey }.map(\.name) + keyColumns.map(\.name),
            into: table
        )
        delete = "DELETE FROM \(table.quoted) WHERE \(condition)"
    }

    /// Returns the statement that inserts a row with values for some columns.
    static func insert(
        _ columns: [String],
        marks: [String]? = nil,
        into table: String
    ) -> String {
        let marks = (marks ?? columns.map { _ in "?" }).joined(separator: ", ")
        return "INSERT INTO \(table.quoted) (\(columns.map(\.quoted).joined(separator: ", "))) "
            + "VALUES (\(marks))"
    }
}
