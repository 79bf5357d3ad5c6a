import GRDB

/// Where a row is that somebody shares: its zone, its place in the tree, and whether it may be
/// changed here.
///
/// Rows that nobody shares have none. The triggers give one to new and moved rows, see
/// ``SharingTriggers``; ``SharedTrees`` derives those of the user's own rows from what the rows are.
struct Place {
    /// The zone; empty for the user's own.
    var zone: String
    /// The record's name; nil for a row that was never sent.
    var name: String?
    /// The name of the record that the server has above it.
    var parent: String?
    /// The share, of a row that is the top of one.
    var share: String?
    var writes: Bool

    static func fetch(_ database: Database, _ key: RowKey) throws -> Place? {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM grdb_cloudkit_place WHERE tbl = ? AND key = ?"
        )
        return try Row.fetchOne(statement, arguments: [key.table, key.text]).map {
            Place(
                zone: $0["zone"],
                name: $0["name"],
                parent: $0["parent"],
                share: $0["share"],
                writes: $0["writes"]
            )
        }
    }

    /// Whether anything in the file is shared.
    static func exist(_ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_place)")
        ) ?? false
    }

    /// The names of the records that are tops of other users' shares.
    static func namesOfOthersTops(_ database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT name FROM grdb_cloudkit_place
                WHERE zone <> '' AND share IS NOT NULL AND name IS NOT NULL
                """
        )
    }

    func save(_ database: Database, _ key: RowKey) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO grdb_cloudkit_place (tbl, key, zone, name, parent, share, writes)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        )
        try statement.execute(
            arguments: [key.table, key.text, zone, name, parent, share, writes]
        )
    }

    /// Forgets the place of a row that is gone, unless it was inserted again since.
    static func remove(_ database: Database, _ key: RowKey) throws {
        let statement = try database.cachedStatement(
            sql: """
                DELETE FROM grdb_cloudkit_place WHERE tbl = ?1 AND key = ?2 AND NOT EXISTS
                    (SELECT 1 FROM grdb_cloudkit_outbox WHERE tbl = ?1 AND key = ?2 AND deleted = 0)
                """
        )
        try statement.execute(arguments: [key.table, key.text])
    }

    /// Forgets the place of a row that nobody shares any more.
    static func drop(_ database: Database, _ key: RowKey) throws {
        try database.run(
            "DELETE FROM grdb_cloudkit_place WHERE tbl = ? AND key = ?",
            [key.table, key.text]
        )
    }

    /// Forgets that a share was of a zone; gives the row that was its top.
    static func forgetShare(
        _ database: Database,
        _ name: String,
        _ zone: String
    ) throws -> RowKey? {
        try database.run(
            "DELETE FROM grdb_cloudkit_share WHERE zone = ? AND name = ?",
            [zone, name]
        )
        let top = try Row.fetchOne(
            database,
            sql: "SELECT tbl, key FROM grdb_cloudkit_place WHERE zone = ? AND share = ?",
            arguments: [zone, name]
        )
        guard let key = top.map({ RowKey(table: $0["tbl"], text: $0["key"]) }) else { return nil }
        try database.run(
            "UPDATE grdb_cloudkit_place SET share = NULL WHERE tbl = ? AND key = ?",
            [key.table, key.text]
        )
        return key
    }

    /// Learns from what the shares of another user's zone say which of its rows may be changed here.
    static func updateWrites(in zone: String, _ database: Database) throws {
        try database.execute(
            sql: """
                WITH RECURSIVE open (zone, name, writes) AS (
                    SELECT p.zone, p.name, s.writes FROM grdb_cloudkit_place p JOIN grdb_cloudkit_share s
                        ON s.zone = p.zone AND (s.name = p.share OR s.name = 'cloudkit.zoneshare')
                        WHERE p.zone = ?
                    UNION
                    SELECT p.zone, p.name, o.writes FROM open o JOIN grdb_cloudkit_place p
                        ON p.zone = o.zone AND p.parent = o.name
                )
                UPDATE grdb_cloudkit_place SET writes = best.writes
                FROM (SELECT zone, name, max(writes) AS writes FROM open GROUP BY zone, name) best
                WHERE best.zone = grdb_cloudkit_place.zone AND best.name = grdb_cloudkit_place.name
                    AND grdb_cloudkit_place.writes <> best.writes
                """,
            arguments: [zone]
        )
        // A row that was never sent is as its parent is, which its trigger saw.
    }
}
