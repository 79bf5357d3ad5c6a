public import Foundation
public import GRDB

extension CloudStore {
    /// Returns the edits that lost a merge, oldest first: those of this device's merges, or those
    /// of all of the user's devices if ``StoreConfiguration/journal`` is ``StoreConfiguration/JournalScope/shared``.
    ///
    /// ``StoreConfiguration/journalAge`` and ``StoreConfiguration/journalLimit`` limit its size.
    ///
    /// - Parameters:
    ///   - table: The table's name; nil for all tables.
    ///   - key: The row's key; nil for all rows.
    /// - Returns: The entries.
    /// - Throws: An error of the database.
    public func journal(
        of table: String? = nil,
        key: String? = nil
    ) async throws -> [JournalEntry] {
        let isShared = configuration.journal == .shared
        return try await file.read { database in
            try Self.entries(database, isShared, table, key)
        }
    }

    /// Returns the journal now and after each change, for an app that shows overruled edits as they happen.
    ///
    /// ```swift
    /// for try await entries in store.journalValues() { show(entries) }
    /// ```
    ///
    /// - Returns: The entries, oldest first, until the task that iterates is cancelled.
    public func journalValues() -> AsyncValueObservation<[JournalEntry]> {
        let isShared = configuration.journal == .shared
        return ValueObservation.tracking { try Self.entries($0, isShared, nil, nil) }
            .removeDuplicates().values(in: file.writer)
    }

    private static func entries(
        _ database: Database,
        _ isShared: Bool,
        _ table: String?,
        _ key: String?
    ) throws -> [JournalEntry] {
        var entries = try Row.fetchAll(
            database,
            sql: """
                SELECT * FROM grdb_cloudkit_journal
                WHERE (?1 IS NULL OR tbl = ?1) AND (?2 IS NULL OR key = ?2) ORDER BY id
                """,
            arguments: [table, key]
        ).map { try JournalEntry($0, id: $0["id"], device: nil) }
        guard isShared else { return entries }
        let own = try StoreClock(database).device
        entries += try Row.fetchAll(
            database,
            sql: """
                SELECT rowid AS number, * FROM \(SharedJournal.table)
                WHERE (?1 IS NULL OR tbl = ?1) AND (?2 IS NULL OR key = ?2) ORDER BY time, id
                """,
            arguments: [table, key]
        ).map { row in
            let device: String = row["device"]
            return try JournalEntry(row, id: -row["number"], device: device == own ? nil : device)
        }
        return entries.sorted { ($0.date, $0.id) < ($1.date, $1.id) }
    }

    /// Restores an overruled edit as an ordinary edit, which syncs like any other: sets the values,
    /// inserts a deleted row again, or deletes a row whose deletion lost.
    ///
    /// The journal keeps no assets, so they are not restored. An entry whose ``JournalEntry/key`` was
    /// set to a new one becomes a new row. An entry of another user's row that is out of sight needs a
    /// new key: with the old one the new row would keep the other from coming back. An entry of a deletion
    /// has no values for a new row, and is restored under its own key. Values that a new row needs besides,
    /// or a reference to a row that is here in place of a missing one, can be set in ``JournalEntry/lost``.
    ///
    /// - Parameter entry: The entry of the journal.
    /// - Throws: A ``CloudStoreError`` for a table that is no longer synced, for a lost share, for a row
    ///   whose key another user's has now, or another user's whose key another has, or that is out of
    ///   sight, where the values refer to a row that is not here, or do not suffice for a new row, where
    ///   another row has one of the UNIQUE values, and for a deletion that another row's reference blocks;
    ///   an error of the database, such as another constraint that the values violate.
    public func restore(_ entry: JournalEntry) async throws {
        let schema = try schema(entry.table)
        guard entry.rule != JournalEntry.share else {
            throw CloudStoreError(
                .notShared,
                "The share of the row '\(entry.key)' of the table '\(entry.table)' is not restored "
                    + "from the journal; share(_:in:) shares the row again"
            )
        }
        let mapping = file.mapping
        try await file.writer.write { database in
            let rows = RowStore(database: database, mapping: mapping)
            try EntryRestorer(entry, schema, rows).restore()
        }
    }

    /// Removes the entries that exceed the configured age or number.
    func trimJournal() async throws {
        try await file.writer.write { [configuration, catalog = file.catalog] database in
            let journal = Journal(database, catalog)
            try journal.trim(olderThan: configuration.journalAge)
            try journal.trim(to: configuration.journalLimit)
            try journal.trimShared(
                olderThan: configuration.journalAge,
                to: configuration.journalLimit
            )
        }
    }

    /// Removes entries that are older than a date; shared entries are removed from all devices.
    ///
    /// - Parameter date: The date.
    /// - Throws: An error of the database.
    public func trimJournal(before date: Date) async throws {
        let tables =
            ["grdb_cloudkit_journal"]
            + (configuration.journal == .shared ? [SharedJournal.table] : [])
        try await file.writer.write { database in
            for table in tables {
                try database.execute(
                    sql: "DELETE FROM \(table) WHERE time < ?",
                    arguments: [Int64(date.timeIntervalSince1970 * 1_000_000)]
                )
            }
        }
    }
}

extension JournalEntry {
    /// Creates an entry from a row of one of the journal's tables.
    fileprivate init(_ row: Row, id: Int64, device: String?) throws {
        self.init(
            id: id,
            device: device,
            date: CloudStore.date(row["time"]) ?? .distantPast,
            table: row["tbl"],
            key: row["key"],
            rule: row["rule"],
            side: Side(rawValue: row["side"]) ?? .local,
            lost: try FieldCoding.fields(row["lost"]),
            kept: try (row["kept"] as Data?).map { try FieldCoding.fields($0) },
            recordedKey: row["key"],
            zone: row["zone"]
        )
    }
}
