import GRDB

/// A reader of one table in the live schema, which reports conditions that prevent its sync.
struct TableReader {
    private struct Column {
        var name: String
        var type: String
        var isNotNull: Bool
        var hasDefault: Bool
        var standard: DatabaseValue?
        /// The position in the key, from 1; 0 for other columns.
        var keyPlace: Int
    }

    private let declaration: SyncedTable
    private let table: TableSchema
    private let foreignKeys: [ForeignKey]

    init(_ database: Database, _ declaration: SyncedTable) throws {
        self.declaration = declaration
        let name = declaration.name
        guard try database.tableExists(name) else {
            throw CloudStoreError(
                .noSuchTable,
                "The database has no table '\(name)'; create it in a migration before the store "
                    + "is made"
            )
        }
        if let problem = FieldNames.problem(declaration.recordType) {
            throw CloudStoreError(
                .invalidName,
                "The record type '\(declaration.recordType)' of the table '\(name)' \(problem); "
                    + "declare another with recordType"
            )
        }
        let columns = try Self.columns(of: name, database)
        try Self.checkNames(declaration, columns.map(\.name))
        try Self.checkKey(declaration, columns, database)
        try Self.checkCollation(declaration, database)
        let synced = try columns.filter { !declaration.localOnly.contains($0.name) }
            .map { try Self.column($0, declaration) }
        try Self.checkFields(declaration, synced)
        let key = columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }
        table = TableSchema(
            declaration: declaration,
            columns: synced,
            keyColumns: key.compactMap { key in synced.first { $0.name == key.name } }
        )
        foreignKeys = try Self.foreignKeys(of: name, database)
    }

    /// Returns the table, with its foreign keys among the synced tables.
    func schema(among readers: [TableReader]) throws -> TableSchema {
        var columns = table.columns
        var synced: [ForeignKey] = []
        for foreignKey in foreignKeys {
            let isLocal = foreignKey.columns.contains(where: declaration.localOnly.contains)
            guard !isLocal else { continue }
            guard let parent = readers.first(where: { $0.isNamed(foreignKey.parent) }) else {
                throw CloudStoreError(
                    .unsyncedReference,
                    "The column '\(foreignKey.columns.joined(separator: ", "))' of the table '"
                        + "\(declaration.name)' refers to '\(foreignKey.parent)', which is not "
                        + "synced; list that table too, or declare the column localOnly"
                )
            }
            guard parent.declaration.database == declaration.database else {
                throw CloudStoreError(
                    .unsyncedReference,
                    "The column '\(foreignKey.columns.joined(separator: ", "))' of the table '"
                        + "\(declaration.name)' refers to '\(foreignKey.parent)', whose records are "
                        + "in another database; declare both tables for one database, or the column "
                        + "localOnly"
                )
            }
            var key = foreignKey
            key.parent = parent.declaration.name
            let parentKey = parent.table.keyColumns.map(\.name)
            if key.parentColumns.isEmpty { key.parentColumns = parentKey }
            synced.append(key)
            guard key.columns.count == 1, key.parentColumns == parentKey,
                let place = columns.firstIndex(where: { $0.name == key.columns[0] })
            else { continue }
            columns[place].target = key.parent
        }
        if let name = declaration.parent,
            columns.first(where: { $0.name == name })?.target == nil
        {
            throw CloudStoreError(
                .noSuchColumn,
                "The column '\(name)' of the table '\(declaration.name)', which parent names, does "
                    + "not refer to a row of a synced table; name one that does"
            )
        }
        return table.with(columns: columns, foreignKeys: synced)
    }

    private func isNamed(_ name: String) -> Bool {
        declaration.name.lowercased() == name.lowercased()
    }

    // MARK: Reading

    private static func columns(of table: String, _ database: Database) throws -> [Column] {
        try Row.fetchAll(database, sql: "PRAGMA table_xinfo(\(table.quoted))").compactMap { row in
            // Generated columns follow from others.
            guard (row["hidden"] as Int? ?? 0) == 0 else { return nil }
            return Column(
                name: row["name"],
                type: row["type"] ?? "",
                isNotNull: row["notnull"],
                hasDefault: ((row["dflt_value"] as String?) ?? "NULL").uppercased() != "NULL",
                standard: try standard(row["dflt_value"], row["type"] ?? "", database),
                keyPlace: row["pk"]
            )
        }
    }

    /// Returns a column's default as it is stored; nil for one that calls a function, such as the current time or a
    /// random number.
    private static func standard(
        _ sql: String?,
        _ type: String,
        _ database: Database
    ) throws -> DatabaseValue? {
        guard let sql,
            sql.hasPrefix("'") || !(sql.contains("(") || sql.uppercased().contains("CURRENT_")),
            let value = try DatabaseValue.fetchOne(database, sql: "SELECT \(sql)"), !value.isNull
        else { return nil }
        let affinity = ColumnAffinity(declaredType: type)
        if case .string(let text) = value.storage, let number = affinity.number(text) {
            return number
        }
        return affinity.stored(value)
    }

    private static func foreignKeys(
        of table: String,
        _ database: Database
    ) throws -> [ForeignKey] {
        var keys: [Int: ForeignKey] = [:]
        let rows = try Row.fetchAll(database, sql: "PRAGMA foreign_key_list(\(table.quoted))")
        for row in rows {
            let id: Int = row["id"]
            let deletion = ForeignKey.Action(rawValue: row["on_delete"]) ?? .noAction
            var key =
                keys[id]
                ?? ForeignKey(
                    columns: [],
                    parent: row["table"],
                    parentColumns: [],
                    deletion: deletion
                )
            key.columns.append(row["from"])
            if let column: String = row["to"] { key.parentColumns.append(column) }
            keys[id] = key
        }
        return keys.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func column(_ column: Column, _ declaration: SyncedTable) throws -> TableColumn {
        let download = declaration.assets[column.name]
        let declared = download == nil ? declaration.forms[column.name] : .asset
        guard let form = declared ?? ColumnForm(declaredType: column.type) else {
            throw CloudStoreError(
                .unmappableColumn,
                "The column '\(column.name)' of the table '\(declaration.name)' has the type '"
                    + "\(column.type)', which does not say what it holds; declare it under forms, "
                    + "or as localOnly"
            )
        }
        let field = declaration.fields[column.name] ?? column.name
        return TableColumn(
            name: column.name,
            field: field,
            form: form,
            affinity: ColumnAffinity(declaredType: column.type),
            isKey: column.keyPlace > 0,
            isNotNull: column.isNotNull,
            hasDefault: column.hasDefault,
            standard: column.standard,
            isEncrypted: declaration.encrypted.contains(column.name),
            download: form == .asset ? download ?? .withRow : nil,
            notation: declaration.format.map { $0.notations[field] ?? .plain }
        )
    }
}

// MARK: Checks

extension TableReader {
    private static func checkKey(
        _ declaration: SyncedTable,
        _ columns: [Column],
        _ database: Database
    ) throws {
        let key = columns.filter { $0.keyPlace > 0 }
        let table = declaration.name
        guard !key.isEmpty else {
            throw CloudStoreError(
                .unusableKey,
                "The table '\(table)' has no primary key, so its rows have no identity on other "
                    + "devices; give it one, such as id TEXT PRIMARY KEY NOT NULL with a UUID"
            )
        }
        if let column = key.first(where: { declaration.localOnly.contains($0.name) }) {
            throw CloudStoreError(
                .unusableKey,
                "The key column '\(column.name)' of the table '\(table)' cannot be localOnly"
            )
        }
        if let column = key.first(where: {
            [.real, .asset, .list, .location, .date, .secondsSince1970]
                .contains(declaration.forms[$0.name] ?? ColumnForm(declaredType: $0.type))
        }) {
            throw CloudStoreError(
                .unusableKey,
                "The key column '\(column.name)' of the table '\(table)' has the type '"
                    + "\(column.type)'; keys are text, integers, UUIDs or bytes: declare it as one of them, "
                    + "such as forms: [\"\(column.name)\": .text] for a date that is written as text"
            )
        }
        let form = declaration.forms[key[0].name] ?? ColumnForm(declaredType: key[0].type)
        guard declaration.recordNames == .typeAndKey || (key.count == 1 && form == .text) else {
            throw CloudStoreError(
                .unusableKey,
                "The records of the table '\(table)' are named after its key, which therefore has to be one "
                    + "text column; give it such a key, or omit recordNames"
            )
        }
        guard key.count == 1, key[0].type.uppercased() == "INTEGER",
            !declaration.assignsIntegerKeys
        else { return }
        throw CloudStoreError(
            .unusableKey,
            "SQLite numbers the rows of the table '\(table)' itself, so two devices give the same key to "
                + "different rows, and one of them is lost; call database.replaceIntegerKeys(in: ["
                + "\"\(table)\"]) in a migration, or declare assignsIntegerKeys when the app assigns "
                + "numbers that identify the same row on every device"
        )
    }

    /// Checks that the table takes keys for equal only if their bytes are: others name different records.
    private static func checkCollation(
        _ declaration: SyncedTable,
        _ database: Database
    ) throws {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT c.name, c.coll FROM pragma_index_list(?) AS i, pragma_index_xinfo(i.name) AS c
                WHERE i.origin = 'pk' AND c."key" AND upper(c.coll) <> 'BINARY' ORDER BY c.seqno
                """,
            arguments: [declaration.name]
        )
        guard let row else { return }
        throw CloudStoreError(
            .unusableKey,
            "The key column '\(row["name"] as String? ?? "")' of the table '\(declaration.name)' has the "
                + "collation \(row["coll"] as String), which takes different keys for equal, but they name "
                + "different records; copy the rows into a table whose key has none, and give another column, or "
                + "a UNIQUE index, that collation"
        )
    }

    private static func checkNames(_ declaration: SyncedTable, _ columns: [String]) throws {
        let known = Set(columns)
        let named = [
            ("fieldRules", Array(declaration.fieldRules.keys)),
            ("assets", Array(declaration.assets.keys)),
            ("encrypted", Array(declaration.encrypted)),
            ("localOnly", Array(declaration.localOnly)),
            ("forms", Array(declaration.forms.keys)),
            ("fields", Array(declaration.fields.keys)),
        ]
        for (place, names) in named {
            guard let name = names.sorted().first(where: { !known.contains($0) }) else { continue }
            throw CloudStoreError(
                .noSuchColumn,
                "The table '\(declaration.name)' has no column '\(name)', which \(place) names; "
                    + "its columns are \(columns.joined(separator: ", "))"
            )
        }
    }

    private static func checkFields(_ declaration: SyncedTable, _ columns: [TableColumn]) throws {
        var seen: Set<String> = []
        for column in columns {
            let place = "the column '\(column.name)' of the table '\(declaration.name)'"
            // A key that is the record name is not a field, so any name is allowed.
            if column.isKey, declaration.recordNames == .key, !column.isEncrypted { continue }
            if let problem = FieldNames.problem(column.field) {
                throw CloudStoreError(
                    .invalidName,
                    "The field '\(column.field)' of \(place) \(problem); declare another under "
                        + "fields"
                )
            }
            if FieldNames.isReserved(column.field) {
                throw CloudStoreError(
                    .invalidName,
                    "The field '\(column.field)' of \(place) is one that every record has; declare "
                        + "another under fields"
                )
            }
            guard seen.insert(column.field).inserted else {
                throw CloudStoreError(
                    .duplicateName,
                    "The field '\(column.field)' of \(place) is also another column's; declare "
                        + "another under fields"
                )
            }
            if column.isKey, column.isEncrypted {
                throw CloudStoreError(
                    .unusableKey,
                    "\(place) cannot be encrypted: it is in the record's name"
                )
            }
        }
    }
}
