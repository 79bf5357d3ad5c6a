public import GRDB

extension Database {
    /// Returns the rows that would violate a UNIQUE index on some columns, for a check before a
    /// migration creates it.
    ///
    /// ```swift
    /// migrator.registerMigration("one label of a name") { database in
    ///     for keys in try database.collidingRows(in: "label", on: ["name"]) {
    ///         // Merge them, rename all but the first, or leave the index out.
    ///         print(keys)
    ///     }
    /// }
    /// ```
    ///
    /// These are the rows of this file. Rows of older app versions may arrive later;
    /// ``SyncedTable/uniqueness`` decides what happens to them.
    ///
    /// - Parameters:
    ///   - table: The table's name.
    ///   - columns: The columns; a row with NULL in one of them collides with no other.
    /// - Returns: The keys of the rows that have the same values, in groups: the value as text,
    ///   bytes in hexadecimal, several columns as a JSON array.
    /// - Throws: An error of the database, such as for a table or column that does not exist.
    public func collidingRows(in table: String, on columns: [String]) throws -> [[String]] {
        let key = try primaryKey(table).columns
        let blobs = try Set(
            self.columns(in: table)
                .filter { ["BLOB", "UUID"].contains($0.type.uppercased()) }.map(\.name)
        )
        let parts = key.map { blobs.contains($0) ? "hex(\($0.quoted))" : $0.quoted }
        let text =
            parts.count == 1
            ? "CAST(\(parts[0]) AS TEXT)" : "json_array(\(parts.joined(separator: ", ")))"
        let names = columns.map(\.quoted).joined(separator: ", ")
        let isThere = columns.map { "\($0.quoted) IS NOT NULL" }.joined(separator: " AND ")
        let rows = try Row.fetchAll(
            self,
            sql: """
                SELECT \(text), dense_rank() OVER (ORDER BY \(names)) FROM \(table.quoted)
                WHERE \(isThere) ORDER BY 2, 1
                """
        )
        return Dictionary(grouping: rows) { $0[1] as Int }.sorted { $0.key < $1.key }
            .map { $0.value.map { $0[0] as String } }.filter { $0.count > 1 }
    }
}

extension Database {
    /// Removes the triggers that name a table, for a migration that SQLite would otherwise refuse:
    /// one that drops a column, or that copies the rows into a new table and renames that.
    ///
    /// Once rows are shared, triggers of other tables name it too. Where nothing is shared, the
    /// migration may work without the call, so call it in any case.
    ///
    /// ```swift
    /// migrator.registerMigration("no street any more") { database in
    ///     try database.removeSyncTriggers(from: "person")
    ///     try database.execute(sql: "ALTER TABLE person DROP COLUMN street")
    /// }
    /// ```
    ///
    /// The next ``CloudStore`` that is created installs them again and compares the table with the
    /// server's last state, so that changes made meanwhile are not lost. Unsent edits of columns that are
    /// gone then are in the journal, under the rule `dropped`.
    ///
    /// - Parameter table: The table's name.
    /// - Throws: An error of the database.
    public func removeSyncTriggers(from table: String) throws {
        try DroppedEdits(database: self).keep(table)
        try TrackingTriggers.remove(from: table, in: self)
        try SharingTriggers.remove(naming: table, in: self)
    }
}
