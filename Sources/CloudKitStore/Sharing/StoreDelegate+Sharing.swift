import CloudKit
import GRDB
import Synchronization

extension StoreDelegate {
    /// Learns from shares what may be changed.
    func fetched(shares: [CKShare], _ zone: String) async throws {
        guard !shares.isEmpty else { return }
        let permissions = shares.map { (name: $0.recordID.recordName, writes: Self.writes($0)) }
        let hasNewShare = try await file.writer.write { database in
            let known = try String.fetchSet(
                database,
                sql: "SELECT name FROM grdb_cloudkit_share WHERE zone = ?",
                arguments: [zone]
            )
            for share in permissions
            where file.mapping.defect != .ignoresPermissions || !known.contains(share.name) {
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO grdb_cloudkit_share (zone, name, writes) VALUES (?, ?, ?)
                        """,
                    arguments: [zone, share.name, share.writes]
                )
            }
            return !known.isEmpty && !known.isSuperset(of: permissions.map(\.name))
        }
        if hasNewShare { state.withLock { $0.fetches[zone]?.hasNewShare = true } }
    }

    private static func writes(_ share: CKShare) -> Bool {
        share.publicPermission == .readWrite
            || share.currentUserParticipant?.permission == .readWrite
    }

    /// Fetches a zone from the beginning: records that a new share opens may be older than what was
    /// fetched last.
    func fetchAll(_ zone: String, _ database: CKDatabase) async throws {
        var token: CKServerChangeToken?
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: file.id(zone), since: token)
            let records = page.modificationResultsByID.sorted {
                $0.key.recordName < $1.key.recordName
            }
            try await fetched(try records.map { try $0.value.get().record }, zone)
            token = page.changeToken
            if !page.moreComing { return try await finishArrivals() }
        }
    }

    /// Forgets shares that let the user in no more, while others of the zone do; says whether there
    /// were any.
    ///
    /// The zone's changes tell nothing of what is out of sight.
    func forgetLostShares(_ zone: String, _ database: CKDatabase) async throws -> Bool {
        let known = try await file.writer.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT name FROM grdb_cloudkit_share WHERE zone = ? ORDER BY name",
                arguments: [zone]
            )
        }
        guard known.count > 1 else { return false }
        let lost = try await missing(known, zone, database)
        guard !lost.isEmpty else { return false }
        try await file.writer.write { database in
            for name in lost {
                try database.execute(
                    sql: "DELETE FROM grdb_cloudkit_share WHERE zone = ? AND name = ?",
                    arguments: [zone, name]
                )
            }
            try StoreFile.sweep(zone, true, database)
        }
        return true
    }
}
