import Foundation
import GRDB

/// Keeps what was overruled.
struct Journal {
    let database: Database

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
