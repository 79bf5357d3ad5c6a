public import Foundation
import GRDB

extension CloudStore {
    /// What lost a merge on this device, oldest first: the journal is on the device that merged.
    ///
    /// ``Configuration/journalAge`` and ``Configuration/journalLimit`` say how much of it is kept.
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
        try await file.writer.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM grdb_cloudkit_journal
                    WHERE (?1 IS NULL OR tbl = ?1) AND (?2 IS NULL OR key = ?2) ORDER BY id
                    """,
                arguments: [table, key]
            )
            return try rows.map { row in
                JournalEntry(
                    id: row["id"],
                    date: Self.date(row["time"]) ?? .distantPast,
                    table: row["tbl"],
                    key: row["key"],
                    rule: row["rule"],
                    side: JournalEntry.Side(rawValue: row["side"]) ?? .local,
                    lost: try FieldCoding.fields(row["lost"]),
                    kept: try (row["kept"] as Data?).map { try FieldCoding.fields($0) }
                )
            }
        }
    }

    /// Brings back what lost, as an ordinary edit that is synced like every other: values are set, a
    /// row that is gone is made again, and a deletion that lost is done.
    ///
    /// Assets are not kept in the journal, so they do not come back.
    ///
    /// - Parameter entry: The entry of the journal.
    /// - Throws: A ``CloudStoreError`` for a table that is not synced any more; an error of the
    ///   database, such as a constraint that speaks against the values.
    public func restore(_ entry: JournalEntry) async throws {
        let schema = try schema(entry.table)
        let mapping = file.mapping
        try await file.writer.write { database in
            let rows = RowStore(database: database, mapping: mapping)
            let key = RowKey(table: entry.table, text: entry.key)
            guard !entry.lost.isEmpty else { return try rows.delete(key, schema) }
            let fields = entry.lost.filter { schema.byField[$0.key]?.form != .asset }
            let existing = try rows.row(key, schema)
            _ = try rows.write(fields, key, schema, over: existing, files: [:])
        }
    }

    /// Removes what the configuration says is too old or too much.
    func trimJournal() async throws {
        try await file.writer.write { [configuration] database in
            let journal = Journal(database: database)
            try journal.trim(olderThan: configuration.journalAge)
            try journal.trim(to: configuration.journalLimit)
        }
    }

    /// Removes entries that are older than a date.
    ///
    /// - Parameter date: The date.
    /// - Throws: An error of the database.
    public func trimJournal(before date: Date) async throws {
        try await file.writer.write { database in
            try database.execute(
                sql: "DELETE FROM grdb_cloudkit_journal WHERE time < ?",
                arguments: [Int64(date.timeIntervalSince1970 * 1_000_000)]
            )
        }
    }
}
