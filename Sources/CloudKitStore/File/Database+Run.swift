import GRDB

extension Database {
    /// Runs a frequent statement, which is compiled once.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Returns the SQL of a trigger; nil when there is none.
    func trigger(_ name: String) throws -> String? {
        let statement = try cachedStatement(
            sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?"
        )
        return try String.fetchOne(statement, arguments: [name])
    }

    /// Runs a closure with many writes in one transaction.
    ///
    /// SQLite keeps the pages of each statement that may fail, and once one needs more of them than
    /// usual, all others of the transaction write theirs to a temporary file. Memory takes a
    /// fraction of that time. The setting must not change while there are temporary tables.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        let databases = try Row.fetchAll(self, sql: "PRAGMA database_list")
        let hasTemporaryTables = databases.contains { $0["name"] == "temp" }
        return try with("temp_store", atLeast: hasTemporaryTables ? 0 : 2) {
            var value: Value?
            try inTransaction(.immediate) {
                value = try body()
                return .commit
            }
            guard let value else {
                throw CloudStoreError(.unreadableFile, "A transaction ended without a result")
            }
            return value
        }
    }

    /// Raises the limit of the connection's page cache, unless it is as high already.
    ///
    /// With SQLite's 2 MB, a first sync reads the pages of the store's own rows from the file again
    /// and again, because these are sorted by name.
    func raisePageCacheLimit() throws {
        let bytes = 6 * 1024 * 1024
        // A negative size is in units of 1,024 bytes, a positive one in pages.
        let size = try Int.fetchOne(self, sql: "PRAGMA cache_size") ?? 0
        let page = try Int.fetchOne(self, sql: "PRAGMA page_size") ?? 4096
        guard size.magnitude < UInt(bytes / (size < 0 ? 1024 : page)) else { return }
        try execute(sql: "PRAGMA cache_size = \(-bytes / 1024)")
    }

    /// Runs a closure with a connection setting of at least some number, and restores the app's setting.
    func with<Value>(
        _ setting: String,
        atLeast number: Int,
        _ body: () throws -> Value
    ) throws -> Value {
        let before = try Int.fetchOne(self, sql: "PRAGMA \(setting)") ?? 0
        guard before < number else { return try body() }
        try execute(sql: "PRAGMA \(setting) = \(number)")
        // A defer cannot throw; the setting is only a limit.
        defer { try? execute(sql: "PRAGMA \(setting) = \(before)") }
        return try body()
    }
}
