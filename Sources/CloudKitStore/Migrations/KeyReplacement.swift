import Foundation
public import GRDB

// Apple's own library is preferred, because the store fetches only GRDB on Apple platforms.
#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

extension Database {
    /// Replaces the integer keys of tables that SQLite numbers by keys that identify the same row
    /// on every device: a UUID as text for each number, in the rows and in all references to them.
    ///
    /// Call it in a separate migration, before the store is created:
    ///
    /// ```swift
    /// var migrator = DatabaseMigrator()
    /// migrator.registerMigration("keys for sync") { database in
    ///     try database.replaceIntegerKeys(
    ///         in: ["artist", "album"],
    ///         preloaded: ["artist": "id <= 275", "album": "id <= 347"]
    ///     )
    /// }
    /// ```
    ///
    /// Indexes, triggers, views and full-text tables stay. A row that the app ships with gets the
    /// same key on every device, derived from its table and number (UUID version 5); every other
    /// row gets a new one. The hidden `rowid` of each row does not change.
    ///
    /// - Parameters:
    ///   - tables: The tables' names. Each has a single key column, declared `INTEGER PRIMARY KEY`.
    ///   - preloaded: The SQL condition, by table, of the rows that have the same number on every device.
    /// - Throws: A ``CloudStoreError`` when a table has no integer key, is already synced, or did
    ///   not keep its content, and when foreign keys are enforced, as in migrations with immediate
    ///   checks; an error of the database. The migration then changes nothing.
    public func replaceIntegerKeys(
        in tables: [String],
        preloaded: [String: String] = [:]
    ) throws {
        try KeyReplacement(self, tables, preloaded).run()
    }
}

/// The replacement of the integer keys of some tables.
struct KeyReplacement {
    private struct Table {
        var name: String
        /// The key column to replace; nil for a table that only refers to others.
        var key: String?
        /// The columns that refer to replaced keys, with their tables.
        var references: [(column: String, table: String)]
        var columns: [String]
        var sql: String
        /// The SQL of the objects to create again after the table: indexes, then triggers.
        var objects: [String]
    }

    private static let keys = "temp.grdb_cloudkit_newKey"
    private static let old = "grdb_cloudkit_old"

    private let database: Database
    private let names: [String]
    private let preloaded: [String: String]

    init(_ database: Database, _ names: [String], _ preloaded: [String: String]) {
        self.database = database
        self.names = names
        self.preloaded = preloaded
    }

    func run() throws {
        guard try Bool.fetchOne(database, sql: "PRAGMA foreign_keys") == false else {
            throw CloudStoreError(
                .unusableKey,
                "Keys cannot be replaced while foreign keys are enforced; call replaceIntegerKeys in "
                    + "a migration with deferred checks, which is the default"
            )
        }
        if let name = preloaded.keys.sorted().first(where: { !names.contains($0) }) {
            throw CloudStoreError(
                .noSuchTable,
                "preloaded names the table '\(name)', which is not one of \(names.joined(separator: ", "))"
            )
        }
        let keys = try Dictionary(names.map { ($0, try key(of: $0)) }) { first, _ in first }
        let tables = try tables(keys)
        let violations = try violations()
        try makeKeys(keys)
        try database.with("legacy_alter_table", atLeast: 1) {
            for table in tables { try rebuild(table) }
        }
        try rebuildTextIndexes(keys)
        try database.execute(sql: "DROP TABLE \(Self.keys)")
        guard try self.violations() == violations else {
            throw CloudStoreError(
                .unusableKey,
                "The replacement of keys broke references; correct the rows that "
                    + "refer to missing rows, and run the migration again"
            )
        }
    }

    // MARK: Reading the schema

    private func key(of table: String) throws -> String {
        guard try database.tableExists(table) else {
            throw CloudStoreError(.noSuchTable, "The database has no table '\(table)'")
        }
        let columns = try Row.fetchAll(database, sql: "PRAGMA table_info(\(table.quoted))")
        let key = columns.filter { $0["pk"] as Int > 0 }
        guard key.count == 1, (key[0]["type"] as String).uppercased() == "INTEGER" else {
            throw CloudStoreError(
                .unusableKey,
                "The table '\(table)' has no key that is declared INTEGER PRIMARY KEY; leave it out"
            )
        }
        let isSynced =
            try database.tableExists("grdb_cloudkit_table")
            && Bool.fetchOne(
                database,
                sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_table WHERE name = ?)",
                arguments: [table]
            ) == true
        guard !isSynced else {
            throw CloudStoreError(
                .unusableKey,
                "The table '\(table)' is synced already under its numbers, which are the names of its "
                    + "rows on other devices; they can no longer be replaced"
            )
        }
        return key[0]["name"]
    }

    /// Returns the tables to rebuild: those whose keys are replaced, and those that refer to them.
    private func tables(_ keys: [String: String]) throws -> [Table] {
        let all = try Row.fetchAll(
            database,
            sql: """
                SELECT name, sql FROM sqlite_master WHERE type = 'table'
                    AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND sql NOT LIKE 'CREATE VIRTUAL%'
                ORDER BY name
                """
        )
        var tables: [Table] = []
        for row in all {
            let name: String = row["name"]
            var references: [(String, String)] = []
            let foreignKeys = try Row.fetchAll(
                database,
                sql: "PRAGMA foreign_key_list(\(name.quoted))"
            )
            for foreignKey in foreignKeys {
                let parent: String = foreignKey["table"]
                guard let (target, key) = keys.first(where: { $0.key.isSameName(as: parent) })
                else { continue }
                let column: String? = foreignKey["to"]
                if column.map({ $0.isSameName(as: key) }) ?? true {
                    references.append((foreignKey["from"], target))
                }
            }
            let key = keys.first { $0.key.isSameName(as: name) }?.value
            guard key != nil || !references.isEmpty else { continue }
            tables.append(
                Table(
                    name: name,
                    key: key,
                    references: references,
                    columns: try columns(of: name),
                    sql: row["sql"],
                    objects: try objects(of: name)
                )
            )
        }
        return tables
    }

    private func columns(of table: String) throws -> [String] {
        try Row.fetchAll(database, sql: "PRAGMA table_xinfo(\(table.quoted))")
            .filter { ($0["hidden"] as Int? ?? 0) == 0 }.map { $0["name"] }
    }

    private func objects(of table: String) throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT sql FROM sqlite_master
                WHERE lower(tbl_name) = lower(?) AND type IN ('index', 'trigger') AND sql IS NOT NULL
                ORDER BY type, name
                """,
            arguments: [table]
        )
    }

    private func violations() throws -> Int {
        try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count
    }

    // MARK: Keys

    private func makeKeys(_ keys: [String: String]) throws {
        try database.execute(
            sql: """
                CREATE TEMP TABLE grdb_cloudkit_newKey (
                    tbl TEXT, old INTEGER, new TEXT NOT NULL, PRIMARY KEY (tbl, old)
                ) WITHOUT ROWID
                """
        )
        for (table, key) in keys.sorted(by: { $0.key < $1.key }) {
            let isPreloaded = preloaded[table].map { "coalesce(\($0), 0)" } ?? "0"
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT \(key.quoted), \(isPreloaded) FROM \(table.quoted)"
            )
            while let row = try rows.next() {
                let number: Int64 = row[0]
                let new = row[1] as Bool ? Self.key(of: number, in: table) : UUID().uuidString
                try database.run(
                    "INSERT INTO \(Self.keys) VALUES (?, ?, ?)",
                    [table, number, new]
                )
            }
        }
    }

    /// Returns the version 5 UUID of a row that every device has, derived from the table's name, a
    /// colon and the number.
    static func key(of number: Int64, in table: String) -> String {
        let space = UUID(uuidString: "6F2B61D5-3C9B-4B52-9C0E-0D7C6A1F5E34") ?? UUID()
        var hash = Insecure.SHA1()
        withUnsafeBytes(of: space.uuid) { hash.update(bufferPointer: $0) }
        hash.update(data: Data("\(table):\(number)".utf8))
        var bytes = Data(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        return DatabaseForms.uuidText(bytes) ?? ""
    }

    // MARK: Tables

    private func rebuild(_ table: Table) throws {
        var definition = TableDefinition(table.sql)
        var replaced = table.references.map { ($0.column, false) }
        if let key = table.key { replaced.append((key, true)) }
        for (column, isKey) in replaced where !definition.makeText(column, isKey: isKey) {
            throw CloudStoreError(
                .noSuchColumn,
                "The declaration of the column '\(column)' was not found in: \(table.sql)"
            )
        }
        let name = table.name.quoted
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(name)")
        try database.execute(sql: "ALTER TABLE \(name) RENAME TO \(Self.old)")
        for object in table.objects { try drop(object) }
        try database.execute(sql: definition.sql)
        try copy(table)
        guard try Int.fetchOne(database, sql: "SELECT count(*) FROM \(name)") == count else {
            throw CloudStoreError(
                .unusableKey,
                "Not all rows of the table '\(table.name)' could be copied"
            )
        }
        try database.execute(sql: "DROP TABLE \(Self.old)")
        for object in table.objects { try database.execute(sql: object) }
    }

    /// Drops the indexes and triggers of the old table, which would otherwise occupy the names of
    /// the new one's.
    private func drop(_ object: String) throws {
        let found = try Row.fetchAll(
            database,
            sql: """
                SELECT type, name FROM sqlite_master
                WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL
                """,
            arguments: [Self.old]
        )
        for row in found {
            let name: String = row["name"]
            try database.execute(sql: "DROP \(row["type"] as String) \(name.quoted)")
        }
    }

    private func copy(_ table: Table) throws {
        let values = table.columns.map { column -> String in
            let target =
                table.key?.isSameName(as: column) == true
                ? table.name : table.references.first { $0.column.isSameName(as: column) }?.table
            guard let target else { return column.quoted }
            let literal = (names.first { $0.isSameName(as: target) } ?? target).literal
            // References to missing rows stay broken.
            return """
                CASE WHEN \(column.quoted) IS NULL THEN NULL ELSE coalesce(
                    (SELECT new FROM \(Self.keys) WHERE tbl = \(literal) AND old = \(column.quoted)),
                    CAST(\(column.quoted) AS TEXT)) END
                """
        }
        let list = table.columns.map(\.quoted).joined(separator: ", ")
        let hasRowID = table.key != nil && !isWithoutRowID(table.sql)
        let rowID = hasRowID ? "rowid, " : ""
        let number = hasRowID ? "\(table.key?.quoted ?? "rowid"), " : ""
        try database.execute(
            sql: """
                INSERT INTO \(table.name.quoted) (\(rowID)\(list))
                SELECT \(number)\(values.joined(separator: ", ")) FROM \(Self.old)
                """
        )
    }

    private func isWithoutRowID(_ sql: String) -> Bool {
        sql.uppercased().suffix(40).contains("WITHOUT ROWID")
    }

    // MARK: Full text

    /// Rebuilds the full-text tables that find their content rows by the hidden number, and the
    /// triggers that maintain them.
    private func rebuildTextIndexes(_ keys: [String: String]) throws {
        let all = try Row.fetchAll(
            database,
            sql: "SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%USING fts%'"
        )
        for row in all {
            let (name, sql): (String, String) = (row["name"], row["sql"])
            for (table, key) in keys where sql.names(content: table) {
                try renumber(name, sql, table, key)
            }
        }
    }

    private func renumber(_ name: String, _ sql: String, _ table: String, _ key: String) throws {
        let triggers = try Row.fetchAll(
            database,
            sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND instr(sql, ?)",
            arguments: [name]
        )
        for trigger in triggers {
            let triggerName: String = trigger["name"]
            var body: String = trigger["sql"]
            for row in ["new", "old", "NEW", "OLD"] {
                for spelling in [key.quoted, key] {
                    body = body.replacingWord("\(row).\(spelling)", with: "\(row).rowid")
                }
            }
            try database.execute(sql: "DROP TRIGGER \(triggerName.quoted)")
            try database.execute(sql: body)
        }
        // FTS4 tables accept the hidden number as it is.
        guard sql.lowercased().contains("fts5") else { return }
        let numbered = sql.replacing(
            try Regex(
                "content_rowid\\s*=\\s*['\"]?\(NSRegularExpression.escapedPattern(for: key))['\"]?"
            )
            .ignoresCase(),
            with: "content_rowid='rowid'"
        )
        try database.execute(sql: "DROP TABLE \(name.quoted)")
        try database.execute(sql: numbered)
        try database.execute(
            sql: "INSERT INTO \(name.quoted) (\(name.quoted)) VALUES ('rebuild')"
        )
    }
}

extension String {
    fileprivate func isSameName(as other: String) -> Bool { lowercased() == other.lowercased() }

    /// Returns whether the declaration of a full-text table names a table as its content.
    fileprivate func names(content table: String) -> Bool {
        let text = lowercased().filter { !$0.isWhitespace }
        let name = table.lowercased()
        return ["'\(name)'", "\"\(name)\"", name + ",", name + ")"]
            .contains { text.contains("content=" + $0) }
    }

    /// Replaces a text where neither a letter nor a digit follows it.
    fileprivate func replacingWord(_ word: String, with other: String) -> String {
        var result = ""
        var rest = self[...]
        while let range = rest.range(of: word) {
            let next = rest[range.upperBound...].first
            let isWhole = next.map { !($0.isLetter || $0.isNumber || $0 == "_") } ?? true
            result += rest[..<range.lowerBound] + (isWhole ? other : word)
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}
