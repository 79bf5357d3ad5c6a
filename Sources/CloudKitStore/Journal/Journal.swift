import Foundation
import GRDB

/// The journal: edits that lost a merge, or that this user may not make, kept so that the app can bring
/// them back.
struct Journal {
    let database: Database
    /// `true` when all of the user's devices share it.
    let isShared: Bool
    /// The zone of the rows of new entries.
    private let zone: StoreZone

    init(_ database: Database, _ catalog: TableCatalog, zone: StoreZone = .own) {
        self.database = database
        self.zone = zone
        isShared = catalog[SharedJournal.table] != nil
    }

    /// Removes the oldest entries beyond a number.
    func trim(to limit: Int?) throws {
        guard let limit else { return }
        try database.run(
            """
            DELETE FROM grdb_cloudkit_journal
            WHERE id <= (SELECT max(id) FROM grdb_cloudkit_journal) - ?
            """,
            [max(0, limit)]
        )
    }

    /// Removes the entries older than an age, by this device's clock.
    func trim(olderThan age: Duration?) throws {
        guard let age else { return }
        try database.run(
            """
            DELETE FROM grdb_cloudkit_journal
            WHERE time < (SELECT max(clock, \(ControlTables.now)) FROM grdb_cloudkit_control) - ?
            """,
            [age.components.seconds * 1_000_000]
        )
    }

    /// Removes shared entries that exceed the age or number, on all devices.
    func trimShared(olderThan age: Duration?, to limit: Int?) throws {
        guard isShared else { return }
        if let age {
            try database.run(
                """
                DELETE FROM \(SharedJournal.table)
                WHERE time < (SELECT max(clock, \(ControlTables.now)) FROM grdb_cloudkit_control) - ?
                """,
                [age.components.seconds * 1_000_000]
            )
        }
        guard let limit else { return }
        try database.run(
            """
            DELETE FROM \(SharedJournal.table) WHERE id IN (
                SELECT id FROM \(SharedJournal.table) ORDER BY time DESC, id LIMIT -1 OFFSET ?)
            """,
            [max(0, limit)]
        )
    }

    func add(
        _ overruled: [MergePlan.Overruled],
        _ key: RowKey,
        kept: [String: StoreValue]?,
        at time: EditTime
    ) throws {
        for lost in overruled where !lost.isNothing && key.table != SharedJournal.table {
            let winners = kept.map { kept in
                lost.fields.isEmpty ? kept : kept.filter { lost.fields[$0.key] != nil }
            }
            guard !isShared else {
                try SharedJournal.add(database, key, lost, kept: winners, zone: zone)
                continue
            }
            try database.execute(
                sql: """
                    INSERT INTO grdb_cloudkit_journal (time, tbl, key, rule, side, lost, kept, zone)
                    SELECT max(clock, \(ControlTables.now)), ?, ?, ?, ?, ?, ?, ?
                    FROM grdb_cloudkit_control
                    """,
                arguments: [
                    key.table, key.text, lost.rule, lost.side.rawValue,
                    FieldCoding.data(lost.fields), winners.map(FieldCoding.data), zone,
                ]
            )
        }
    }
}
