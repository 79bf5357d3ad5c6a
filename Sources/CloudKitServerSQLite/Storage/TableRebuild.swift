import CloudKitServerCore
import GRDB

/// Rebuilds the tables of a damaged database whose own rows are whole, and those that derive from
/// records.
///
/// SQLite cannot remove an index with a page that it cannot read. So a table is renamed without its
/// indexes, its rows are copied into a new one, and its pages are given up; they are not freed,
/// because a damaged index may lead to pages of others.
struct TableRebuild {
    /// A table as its database defines it.
    private struct Table {
        var name: String
        var definition: String

        /// The definition of the table under another name, without its constraints and so without
        /// the indexes that these have.
        func plain(_ database: Database) throws -> String {
            let hasRowID = !definition.hasSuffix("WITHOUT ROWID")
            let columns = try database.columns(in: name)
            let key = try database.primaryKey(name).columns
            var parts = columns.map { column in
                let isRowID = hasRowID && key == [column.name] && column.type == "INTEGER"
                return "\(column.name.quotedDatabaseIdentifier) \(column.type)"
                    + (isRowID ? " PRIMARY KEY" : "")
                    + (column.defaultValueSQL.map { " DEFAULT \($0)" } ?? "")
            }
            if !hasRowID {
                let names = key.map(\.quotedDatabaseIdentifier)
                parts.append("PRIMARY KEY (\(names.joined(separator: ", ")))")
            }
            return "CREATE TABLE \(TableRebuild.aside) (\(parts.joined(separator: ", ")))"
                + (hasRowID ? "" : " WITHOUT ROWID")
        }
    }

    /// The part of a table that can be read without its indexes.
    private enum Rows {
        case whole
        /// All pages can be read, but rows may be lost.
        case inPart
        case unreadable
    }

    private static let aside = "damagedTable"

    private let database: Database

    /// Prepares the rebuild of a database, outside of a transaction.
    init(of database: Database) {
        self.database = database
    }

    /// Rebuilds what is damaged.
    ///
    /// - Returns: `false` when anything is still damaged then, or rows that derive from nothing are
    ///   lost; nothing was changed.
    /// - Throws: `DatabaseError`.
    func run() throws -> Bool {
        // SQLite writes nothing more in a transaction in which it met damage, so this comes before.
        var damaged: [(table: Table, rows: Rows)] = []
        for table in try tables() where try !isSound("integrity_check('\(table.name)')") {
            let rows = try rows(of: table)
            guard rows == .whole || Self.mayLoseRows(table.name, rows) else { return false }
            damaged.append((table, rows))
        }
        var isSound = false
        do {
            try transact {
                for (table, rows) in damaged { try rebuild(table, copying: rows) }
                isSound = try self.isSound("integrity_check(\(Int32.max))")
                return isSound ? .commit : .rollback
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // A damaged index has let rows in that its table does not allow.
            return false
        }
        // Without room for it the pages that were given up stay, and the next repair removes them.
        if isSound { try? database.execute(sql: "VACUUM") }
        return isSound
    }

    /// Returns whether the records have what a table loses.
    ///
    /// The table of assets is never emptied: a server that starts before it is filled again would
    /// remove the files.
    private static func mayLoseRows(_ table: String, _ rows: Rows) -> Bool {
        SQLiteConnection.derivedTables.contains(table) && (rows == .inPart || table != "asset")
    }

    private func tables() throws -> [Table] {
        let sql = """
            SELECT name, sql FROM sqlite_master
            WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
            """
        return try Row.fetchAll(database, sql: sql).map { Table(name: $0[0], definition: $0[1]) }
    }

    /// Returns whether a check finds nothing but pages that are not used.
    private func isSound(_ check: String) throws -> Bool {
        do {
            return try String.fetchAll(database, sql: "PRAGMA main.\(check)")
                .flatMap { $0.split(separator: "\n") }
                .allSatisfy { $0 == "ok" || $0.hasPrefix("***") || $0.contains("never used") }
        } catch  where StorageError.isDamage(error) {
            return false
        }
    }

    private func rows(of table: Table) throws -> Rows {
        var rows = Rows.whole
        try transact {
            try setAside(table)
            if try !isSound("integrity_check('\(Self.aside)')") {
                rows = try canBeRead("SELECT * FROM \(Self.aside)") ? .inPart : .unreadable
            }
            return .rollback
        }
        return rows
    }

    /// Runs a transaction, of whose changes to the list of tables SQLite keeps none in memory if it
    /// is undone.
    private func transact(_ body: () throws -> Database.TransactionCompletion) throws {
        let result = Result { try database.inTransaction(.immediate, body) }
        try readTablesAgain()
        try result.get()
    }

    private func readTablesAgain() throws {
        try database.execute(sql: "PRAGMA writable_schema = RESET")
        database.clearSchemaCache()
    }

    private func canBeRead(_ sql: String) throws -> Bool {
        do {
            let rows = try Row.fetchCursor(database, sql: sql)
            while try rows.next() != nil {}
            return true
        } catch  where StorageError.isDamage(error) {
            return false
        }
    }

    private func rebuild(_ table: Table, copying rows: Rows) throws {
        let indexes = try String.fetchAll(
            database,
            sql: """
                SELECT sql FROM sqlite_master
                WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL
                """,
            arguments: [table.name]
        )
        try setAside(table)
        try database.execute(sql: table.definition)
        if rows != .unreadable {
            // Only rows that derive from others may be left out.
            let verb = rows == .whole ? "INSERT" : "INSERT OR IGNORE"
            try database.execute(
                sql: "\(verb) INTO \(table.name) SELECT * FROM \(Self.aside)"
            )
        }
        for index in indexes { try database.execute(sql: index) }
        try editTables {
            try database.execute(
                sql: "DELETE FROM sqlite_master WHERE tbl_name = ?",
                arguments: [Self.aside]
            )
        }
    }

    /// Renames a table and forgets its indexes, without reading either.
    private func setAside(_ table: Table) throws {
        let definition = try table.plain(database)
        try editTables {
            try database.execute(
                sql: "DELETE FROM sqlite_master WHERE type = 'index' AND tbl_name = ?",
                arguments: [table.name]
            )
            try database.execute(
                sql: "UPDATE sqlite_master SET name = ?, tbl_name = ?, sql = ? WHERE name = ?",
                arguments: [Self.aside, Self.aside, definition, table.name]
            )
        }
    }

    /// Changes the list of tables itself, which SQLite then reads again.
    private func editTables(_ body: () throws -> Void) throws {
        try database.execute(sql: "PRAGMA writable_schema = ON")
        let result = Result { try body() }
        try readTablesAgain()
        try result.get()
    }
}
