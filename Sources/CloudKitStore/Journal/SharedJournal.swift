import GRDB

/// The journal that all of a user's devices share: a synced table of the store's own.
///
/// Lost values are encrypted, because their columns may be.
enum SharedJournal {
    static let table = "grdb_cloudkit_lost"

    static let declaration = SyncedTable.table(
        table,
        recordType: "StoreJournal",
        deletion: .deletionWins,
        encrypted: ["lost", "kept"],
        fields: ["tbl": "tableName", "key": "rowKey"]
    )

    /// Creates the table if it is missing.
    static func install(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(table) (
                    id TEXT PRIMARY KEY NOT NULL,
                    time INTEGER NOT NULL,
                    device TEXT NOT NULL,
                    tbl TEXT NOT NULL,
                    key TEXT NOT NULL,
                    rule TEXT NOT NULL,
                    side TEXT NOT NULL,
                    lost BLOB NOT NULL,
                    kept BLOB,
                    zone TEXT
                )
                """
        )
        // Earlier versions kept no zone.
        if try !database.columns(in: table).contains(where: { $0.name == "zone" }) {
            try database.execute(sql: "ALTER TABLE \(table) ADD COLUMN zone TEXT")
        }
    }

    /// Adds an entry as this device's own edit, even while the store applies remote changes.
    static func add(
        _ database: Database,
        _ key: RowKey,
        _ lost: MergePlan.Overruled,
        kept: [String: StoreValue]?,
        zone: StoreZone
    ) throws {
        let time = try StoreClock.tick(database)
        let device = try StoreClock(database).device
        try ControlTables.asEdit(database) {
            try database.run(
                "INSERT INTO \(table) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    "\(device)-\(String(time, radix: 36))", time, device, key.table, key.text,
                    lost.rule, lost.side.rawValue, FieldCoding.data(lost.fields),
                    kept.map(FieldCoding.data), zone,
                ]
            )
        }
    }
}
