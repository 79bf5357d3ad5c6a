import Foundation
import GRDB

/// Keeps what was overruled.
struct Journal {
    let database: Database

    /// Removes the oldest entries where there are more than a number.
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

    /// Removes the entries that are older than some time, by this device's clock.
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

    func add(
        _ overruled: [MergePlan.Overruled],
        _ key: RowKey,
        kept: [String: StoreValue]?,
        at time: EditTime
    ) throws {
        for lost in overruled {
            let winners = kept.map { kept in
                lost.fields.isEmpty ? kept : kept.filter { lost.fields[$0.key] != nil }
            }
            try database.execute(
                sql: """
                    INSERT INTO grdb_cloudkit_journal (time, tbl, key, rule, side, lost, kept)
                    SELECT max(clock, \(ControlTables.now)), ?, ?, ?, ?, ?, ?
                    FROM grdb_cloudkit_control
                    """,
                arguments: [
                    key.table, key.text, lost.rule, lost.side.rawValue,
                    FieldCoding.data(lost.fields), winners.map(FieldCoding.data),
                ]
            )
        }
    }
}
