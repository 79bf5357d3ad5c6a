import CloudKit
import GRDB

extension StoreFile {
    /// The file's name for the zone of tables in the public database.
    static let publicZone = "public"

    /// Returns whether a zone, by its name in the file, is another user's.
    static func isOthers(_ zone: String) -> Bool { !zone.isEmpty && zone != publicZone }

    /// Returns the file's name for a zone ID: empty for the user's own, owner and name for one that
    /// another user shares; nil for zones of no store.
    func zone(_ id: CKRecordZone.ID) -> String? {
        if id == zoneID { return "" }
        if id == CKRecordZone.ID.default { return Self.publicZone }
        guard id.zoneName == zoneID.zoneName, id.ownerName != zoneID.ownerName else { return nil }
        return "\(id.ownerName)/\(id.zoneName)"
    }

    /// Returns the ID of a zone.
    func id(_ zone: String) -> CKRecordZone.ID {
        if zone == Self.publicZone { return .default }
        guard let end = zone.firstIndex(of: "/") else { return zoneID }
        return CKRecordZone.ID(
            zoneName: String(zone[zone.index(after: end)...]),
            ownerName: String(zone[..<end])
        )
    }

    /// Returns the zone of a row.
    func zone(_ database: Database, of key: RowKey) throws -> String {
        if catalog[key.table]?.isPublic == true { return Self.publicZone }
        return try Place.fetch(database, key)?.zone ?? ""
    }

    /// Returns the zones of other users that have rows here.
    static func sharedZones(_ database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql: "SELECT DISTINCT zone FROM grdb_cloudkit_place WHERE zone <> '' ORDER BY zone"
        )
    }

    /// Stores whether a zone's records remain to be swept.
    static func sweep(_ zone: String, _ sweeps: Bool, _ database: Database) throws {
        try database.execute(
            sql: zone.isEmpty
                ? "UPDATE grdb_cloudkit_control SET sweeps = ?2"
                : "INSERT OR REPLACE INTO grdb_cloudkit_zone (zone, sweeps) VALUES (?1, ?2)",
            arguments: [zone, sweeps]
        )
    }
}
