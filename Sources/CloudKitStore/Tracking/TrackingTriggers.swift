import GRDB

/// The triggers that observe every write to a synced table, whatever its origin, and note it in the
/// outbox within the writer's own transaction.
///
/// They live in the file, so that other processes and plain SQL fire them too.
struct TrackingTriggers {
    private let table: TableSchema

    init(_ table: TableSchema) {
        self.table = table
    }

    private enum Kind: String, CaseIterable {
        case insert
        case update
        case rekey
        case delete
    }

    // The store sets the flag while it writes the server's changes, which are no edits.
    private static let isOurs = "(SELECT applying FROM grdb_cloudkit_control) = 0"
    private static let tick =
        "UPDATE grdb_cloudkit_control SET clock = max(clock + 1, \(ControlTables.now));"

    private func name(_ kind: Kind) -> String { "grdb_cloudkit_\(kind.rawValue)_\(table.name)" }

    /// Installs the triggers, and returns whether they were missing or different.
    @discardableResult
    func install(in database: Database) throws -> Bool {
        var hasChanged = false
        for kind in Kind.allCases {
            let sql = sql(kind)
            guard try database.trigger(name(kind)) != sql else { continue }
            hasChanged = true
            try database.execute(sql: "DROP TRIGGER IF EXISTS \(name(kind).quoted)")
            if let sql { try database.execute(sql: sql) }
        }
        return hasChanged
    }

    /// Removes the triggers of a table that is no longer synced.
    static func remove(from table: String, in database: Database) throws {
        for kind in Kind.allCases {
            let name = "grdb_cloudkit_\(kind.rawValue)_\(table)"
            try database.execute(sql: "DROP TRIGGER IF EXISTS \(name.quoted)")
        }
    }

    // MARK: SQL

    private func sql(_ kind: Kind) -> String? {
        switch kind {
        case .insert:
            // All columns, because REPLACE fires no trigger for the row that it removes.
            trigger(.insert, "AFTER INSERT", when: nil) {
                [check("NEW"), Self.tick] + MissingDefaults(table).statements() + [
                    save("NEW", everyColumn)
                ]
            }
        case .update:
            table.columns.isEmpty
                ? nil
                : trigger(
                    .update,
                    "AFTER UPDATE OF \(list(table.columns))",
                    when: "\(sameKey) AND (\(table.columns.map(differs).joined(separator: " OR ")))"
                ) {
                    [Self.tick] + MissingDefaults(table).statements(after: "OLD")
                        + [save("NEW", Self.present(table.columns.map(changed(if:))))]
                }
        case .rekey:
            // A row with another key is another record: one is deleted, one inserted. Each entry
            // has a version of its own, so the clock ticks twice.
            trigger(
                .rekey,
                "AFTER UPDATE OF \(list(table.keyColumns))",
                when: "NOT (\(sameKey))"
            ) {
                [check("NEW"), Self.tick, delete("OLD"), Self.tick]
                    + MissingDefaults(table).statements()
                    + [save("NEW", everyColumn)]
            }
        case .delete:
            trigger(.delete, "AFTER DELETE", when: nil) { [Self.tick, delete("OLD")] }
        }
    }

    private func trigger(
        _ kind: Kind,
        _ event: String,
        when condition: String?,
        _ statements: () -> [String]
    ) -> String {
        let condition = condition.map { " AND " + $0 } ?? ""
        let body = statements().filter { !$0.isEmpty }.joined(separator: "\n    ")
        return """
            CREATE TRIGGER \(name(kind).quoted) \(event) ON \(table.name.quoted)
            WHEN \(Self.isOurs)\(condition) BEGIN
                \(body)
            END
            """
    }

    private func list(_ columns: [TableColumn]) -> String {
        columns.map(\.name.quoted).joined(separator: ", ")
    }

    /// Compares byte by byte: a column's collation may treat two spellings as equal.
    private func differs(_ column: TableColumn) -> String {
        let (old, new) = ("OLD.\(column.name.quoted)", "NEW.\(column.name.quoted)")
        // An integer and a floating-point number are equal in a column that holds both.
        let type = column.affinity == .none ? " OR typeof(\(old)) <> typeof(\(new))" : ""
        return "(\(old) IS NOT \(new) COLLATE BINARY\(type))"
    }

    private var sameKey: String {
        table.keyColumns.map {
            "OLD.\($0.name.quoted) IS NEW.\($0.name.quoted) COLLATE BINARY"
        }.joined(separator: " AND ")
    }

    /// A JSON object made by one function, which takes less time than one with two arguments for each field; names of
    /// fields have nothing to escape.
    private var everyColumn: String {
        let pairs = table.fieldColumns.map { "\"\($0.field)\":#" }
        return "replace(\("{\(pairs.joined(separator: ","))}".literal), '#', clock)"
    }

    private func changed(if column: TableColumn) -> String {
        "\(column.field.literal), CASE WHEN \(differs(column)) THEN clock END"
    }

    /// Refuses a row without a key, which SQLite allows.
    private func check(_ row: String) -> String {
        let texts = table.keyColumns.filter { $0.form == .text }
            .map { "instr(\(row).\($0.name.quoted), char(0))" }
        let nul = texts.isEmpty ? "" : raise("a key without the character NUL", texts)
        let columns = table.keyColumns.filter { !$0.isNotNull && $0.form != .integer }
        guard !columns.isEmpty else { return nul }
        let isNull = columns.map { "\(row).\($0.name.quoted) IS NULL" }
        let names = columns.map(\.name).joined(separator: ", ")
        return raise("a value for its key '\(names)'", isNull) + nul
    }

    private func raise(_ need: String, _ conditions: [String]) -> String {
        let message = "CloudKitStore: a row of the table '\(table.name)' needs \(need)"
        return "SELECT RAISE(ABORT, \(message.literal)) "
            + "WHERE \(conditions.joined(separator: " OR "));"
    }

    // `WHERE true` keeps SQLite from reading ON as a part of a join. Patching keeps the times of
    // earlier edits, and an edit ends the quarantine of the row.
    private func save(_ row: String, _ changes: String) -> String {
        """
        INSERT INTO grdb_cloudkit_outbox (tbl, key, deleted, changed, version, since)
            SELECT \(table.name.literal), \(RowKey.sql(table, of: row)), 0,
                \(changes), clock, clock
            FROM grdb_cloudkit_control WHERE true
            ON CONFLICT (tbl, key) DO UPDATE SET deleted = 0, version = excluded.version,
                changed = json_patch(changed, excluded.changed), problem = NULL;
        """
    }

    /// Returns a JSON object, built in parts: SQLite's functions take 127 arguments.
    static func object(_ pairs: [String]) -> String {
        let parts = stride(from: 0, to: pairs.count, by: 60).map { start in
            "json_object(\(pairs[start..<min(start + 60, pairs.count)].joined(separator: ", ")))"
        }
        guard let first = parts.first else { return "'{}'" }
        return parts.dropFirst().reduce(first) { "json_patch(\($0), \($1))" }
    }

    /// Returns a JSON object of the pairs whose values are not NULL.
    private static func present(_ pairs: [String]) -> String {
        stride(from: 0, to: pairs.count, by: 60).reduce("'{}'") { object, start in
            "json_patch(\(object), \(Self.object(Array(pairs[start..<min(start + 60, pairs.count)]))))"
        }
    }

    // A deleted row has no edits: if it is inserted again, all columns are noted.
    private func delete(_ row: String) -> String {
        """
        INSERT INTO grdb_cloudkit_outbox (tbl, key, deleted, changed, version, since)
            SELECT \(table.name.literal), \(RowKey.sql(table, of: row)), 1, '{}', clock, clock
            FROM grdb_cloudkit_control WHERE true
            ON CONFLICT (tbl, key) DO UPDATE SET deleted = 1, version = excluded.version,
                changed = excluded.changed, problem = NULL;
        """
    }
}
