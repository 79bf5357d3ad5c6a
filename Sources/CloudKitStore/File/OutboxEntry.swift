import Foundation
import GRDB

/// The changes of a row that the server has not acknowledged.
struct OutboxEntry {
    var key: RowKey
    /// `true` when the row was deleted; otherwise it was inserted or updated.
    var isDeleted: Bool
    /// The changed fields with their times, in this device's own time.
    var changed: [String: Int64]
    /// A number that grows with every change, so that an acknowledgment clears only the sent version.
    var version: Int64
    /// The time of the oldest change.
    var since: Int64
    /// The reason why the entry is quarantined.
    var problem: String?

    private static let columns = "tbl, key, deleted, changed, version, since, problem"

    /// Creates an entry from a row with the columns above.
    private init(_ row: Row) throws {
        key = RowKey(table: row[0], text: row[1])
        isDeleted = row[2]
        changed = try JSONText.times(row[3])
        version = row[4]
        since = row[5]
        problem = row[6]
    }

    static func fetch(_ database: Database, _ key: RowKey) throws -> OutboxEntry? {
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM grdb_cloudkit_outbox WHERE tbl = ? AND key = ?"
        )
        return try Row.fetchOne(statement, arguments: [key.table, key.text]).map(OutboxEntry.init)
    }

    /// Returns the entries that a condition selects, oldest version first.
    static func fetchAll(
        _ database: Database,
        where condition: String = "true",
        arguments: StatementArguments = [],
        limit: Int = .max
    ) throws -> [OutboxEntry] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT \(columns) FROM grdb_cloudkit_outbox WHERE \(condition) ORDER BY version LIMIT ?
                """
        )
        return try Row.fetchAll(statement, arguments: arguments + [limit]).map(OutboxEntry.init)
    }

    /// Returns the fields that were overwritten, even if they have the server's values again.
    ///
    /// An `INSERT` or `REPLACE` notes all fields at one time: those of the key, too, which no update
    /// changes. A field of that time that has the server's value was not edited.
    func overwritten(_ table: TableSchema) -> Set<String> {
        let inserted: Int64?
        if let key = table.keyColumns.first, !table.isNamedByKey {
            inserted = changed[key.field]
        } else {
            // The key has no field, so an entry with all others may be of an insert.
            let isWhole = table.fieldColumns.allSatisfy { changed[$0.field] != nil }
            inserted = isWhole ? changed.values.min() : nil
        }
        return Set(changed.filter { $0.value != inserted }.keys)
    }

    static func count(_ database: Database, where condition: String = "true") throws -> Int {
        let statement = try database.cachedStatement(
            sql: "SELECT count(*) FROM grdb_cloudkit_outbox WHERE \(condition)"
        )
        return try Int.fetchOne(statement) ?? 0
    }

    /// Saves the entry in its current state.
    func save(_ database: Database) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try database.run(
            """
            INSERT OR REPLACE INTO grdb_cloudkit_outbox (\(Self.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                key.table, key.text, isDeleted,
                String(decoding: try encoder.encode(changed), as: UTF8.self), version, since,
                problem,
            ]
        )
    }

    /// Notes edits of a row's fields, beside those that wait, where no trigger sees them.
    static func noteEdit(
        of key: RowKey,
        _ fields: some Sequence<String>,
        _ database: Database
    ) throws {
        let now = try StoreClock.tick(database)
        var entry =
            try fetch(database, key)
            ?? OutboxEntry(key: key, isDeleted: false, changed: [:], version: now)
        for field in fields { entry.changed[field] = now }
        entry.version = now
        try entry.save(database)
    }

    /// Notes the deletion of a row, or of a record without one, where no trigger sees it.
    static func noteDeletion(of key: RowKey, _ database: Database) throws {
        let now = try StoreClock.tick(database)
        try OutboxEntry(key: key, isDeleted: true, changed: [:], version: now).save(database)
    }

    /// Removes the entry, unless it has changed since.
    func clear(_ database: Database) throws {
        try database.run(
            // A key may not be representable as a string, but versions are unique.
            "DELETE FROM grdb_cloudkit_outbox WHERE version = ?",
            [version]
        )
    }

    /// Removes the entries of some versions, each of which belongs to one state of one entry.
    static func clear(_ database: Database, versions: [Int64]) throws {
        for portion in Portion.of(versions) {
            try database.run(
                "DELETE FROM grdb_cloudkit_outbox WHERE version IN (\(Portion.marks))",
                portion
            )
        }
    }

    /// Assigns unique versions to entries that an earlier version of the store numbered alike, table
    /// by table.
    static func separate(_ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE grdb_cloudkit_outbox SET version = control.clock + twin.number
                FROM grdb_cloudkit_control control, (
                    SELECT tbl, key, row_number() OVER () AS number FROM grdb_cloudkit_outbox entry
                    WHERE EXISTS (SELECT 1 FROM grdb_cloudkit_outbox other
                        WHERE other.version = entry.version AND other.tbl < entry.tbl)
                ) twin
                WHERE twin.tbl = grdb_cloudkit_outbox.tbl AND twin.key = grdb_cloudkit_outbox.key
                """
        )
        try StoreClock.passOutbox(database)
    }

    /// Quarantines the entry with a reason, unless it has changed since.
    static func quarantine(
        _ database: Database,
        version: Int64,
        _ problem: String
    ) throws {
        try database.execute(
            sql: "UPDATE grdb_cloudkit_outbox SET problem = ? WHERE version = ?",
            arguments: [problem, version]
        )
    }

    init(key: RowKey, isDeleted: Bool, changed: [String: Int64], version: Int64) {
        self.key = key
        self.isDeleted = isDeleted
        self.changed = changed
        self.version = version
        since = version
    }
}
