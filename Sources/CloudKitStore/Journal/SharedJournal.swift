import GRDB

/// The journal that all devices of a user have: a synced table of the store's own.
///
/// What lost is encrypted, because the columns that it comes from may be.
enum SharedJournal {
    static let table = "grdb_cloudkit_lost"

    static let declaration = SyncedTable.table(
        table,
        recordType: "StoreJournal",
        encrypted: ["lost", "kept"],
        fields: ["tbl": "tableName", "key": "rowKey"]
    )

    /// Makes the table where it is missing.
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
                    kept BLOB
                )
                """
        )
    }

    /// Adds an entry as this device's own edit, also while the store applies what came.
    static func add(
        _ database: Database,
        _ key: RowKey,
        _ lost: MergePlan.Overruled,
        kept: [String: StoreValue]?
    ) throws {
        let time = try StoreClock.tick(database)
        let device = try StoreClock(database).device
        try asEdit(database) {
            try database.run(
                "INSERT INTO \(table) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    "\(device)-\(String(time, radix: 36))", time, device, key.table, key.text,
                    lost.rule, lost.side.rawValue, FieldCoding.data(lost.fields),
                    kept.map(FieldCoding.data),
                ]
            )
        }
    }

    /// Lets the triggers note what a closure writes.
    private static func asEdit(_ database: Database, _ body: () throws -> Void) throws {
        let isApplying = try Int.fetchOne(
            database.cachedStatement(sql: "SELECT applying FROM grdb_cloudkit_control")
        )
        try database.run("UPDATE grdb_cloudkit_control SET applying = 0")
        try body()
        try database.run("UPDATE grdb_cloudkit_control SET applying = ?", [isApplying ?? 0])
    }
}
