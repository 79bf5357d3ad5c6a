import CloudKit
import GRDB

/// The place of a shared row: its zone, its position in the tree, and whether it may be changed here.
///
/// Unshared rows have none. The triggers give one to new and moved rows, see ``SharingTriggers``;
/// ``SharedTrees`` derives those of the user's own rows from the rows.
struct Place {
    var zone: StoreZone
    /// The record's name; nil for a row that was never sent.
    var name: String?
    /// The name of the server's parent record.
    var parent: String?
    /// The share, if the row is the root of one.
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

    /// Returns whether anything in the file is shared.
    static func exist(_ database: Database) throws -> Bool {
        // A whole zone that another user shares may have no rows yet, and takes the new ones.
        let statement = try database.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_place)
                    OR EXISTS (SELECT 1 FROM grdb_cloudkit_share)
                """
        )
        return try Bool.fetchOne(statement) ?? false
    }

    /// Returns the record names of the roots of other users' shares.
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

    /// Forgets the place of a deleted row, unless it was inserted again since.
    static func remove(_ database: Database, _ key: RowKey) throws {
        let statement = try database.cachedStatement(
            sql: """
                DELETE FROM grdb_cloudkit_place WHERE tbl = ?1 AND key = ?2 AND NOT EXISTS
                    (SELECT 1 FROM grdb_cloudkit_outbox WHERE tbl = ?1 AND key = ?2 AND deleted = 0)
                """
        )
        try statement.execute(arguments: [key.table, key.text])
    }

    /// Forgets the place of a row that is no longer shared.
    static func drop(_ database: Database, _ key: RowKey) throws {
        try database.run(
            "DELETE FROM grdb_cloudkit_place WHERE tbl = ? AND key = ?",
            [key.table, key.text]
        )
    }

    /// Forgets a zone's share; returns the row that was its root.
    static func forgetShare(
        _ database: Database,
        _ name: String,
        _ zone: StoreZone
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

    /// Returns the rows whose permission is that of some shares of a zone, by record name: their
    /// roots, or all that were sent if the zone is shared as a whole.
    static func keys(
        ofTops shares: [String],
        in zone: StoreZone,
        _ database: Database
    ) throws -> [String: RowKey] {
        var keys: [String: RowKey] = [:]
        for share in shares {
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT name, tbl, key FROM grdb_cloudkit_place
                    WHERE zone = ?1 AND name IS NOT NULL AND (share = ?2 OR ?2 = ?3)
                    """,
                arguments: [zone, share, CKRecordNameZoneWideShare]
            )
            for row in rows { keys[row["name"]] = RowKey(table: row["tbl"], text: row["key"]) }
        }
        return keys
    }

    /// Returns the names of the records that are directly below another in a zone's shared trees.
    static func names(
        below name: String,
        in zone: StoreZone,
        _ database: Database
    ) throws -> [String] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT name FROM grdb_cloudkit_place
                WHERE zone = ? AND parent = ? AND name IS NOT NULL ORDER BY name
                """
        )
        return try String.fetchAll(statement, arguments: [zone, name])
    }
}
