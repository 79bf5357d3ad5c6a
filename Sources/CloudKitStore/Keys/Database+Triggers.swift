public import GRDB

extension Database {
    /// Removes what notes the changes of a table, for a migration that SQLite would refuse because of it,
    /// such as one that drops a column.
    ///
    /// ```swift
    /// migrator.registerMigration("no street any more") { database in
    ///     try database.removeSyncTriggers(from: "person")
    ///     try database.execute(sql: "ALTER TABLE person DROP COLUMN street")
    /// }
    /// ```
    ///
    /// The next ``CloudStore`` that is made installs it anew, and compares the table with what the server
    /// had, so that nothing is lost that was written meanwhile.
    ///
    /// - Parameter table: The table's name.
    /// - Throws: An error of the database.
    public func removeSyncTriggers(from table: String) throws {
        try TrackingTriggers.remove(from: table, in: self)
        try SharingTriggers.remove(from: table, in: self)
    }
}
