public import GRDB

extension Database {
    /// Removes the triggers that track a table's changes, for a migration that SQLite would
    /// otherwise refuse, such as one that drops a column.
    ///
    /// ```swift
    /// migrator.registerMigration("no street any more") { database in
    ///     try database.removeSyncTriggers(from: "person")
    ///     try database.execute(sql: "ALTER TABLE person DROP COLUMN street")
    /// }
    /// ```
    ///
    /// The next ``CloudStore`` that is created installs them again and compares the table with the
    /// server's last state, so that changes made meanwhile are not lost.
    ///
    /// - Parameter table: The table's name.
    /// - Throws: An error of the database.
    public func removeSyncTriggers(from table: String) throws {
        try TrackingTriggers.remove(from: table, in: self)
        try SharingTriggers.remove(from: table, in: self)
    }
}
