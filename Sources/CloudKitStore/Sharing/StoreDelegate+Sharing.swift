import CloudKit
import GRDB

extension StoreDelegate {
    /// Updates permissions from fetched shares.
    func fetched(shares: [CKShare], _ zone: String) async throws {
        guard !shares.isEmpty else { return }
        let permissions = shares.map { (name: $0.recordID.recordName, writes: Self.writes($0)) }
        try await file.writer.write { database in
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
        }
    }

    private static func writes(_ share: CKShare) -> Bool {
        share.publicPermission == .readWrite
            || share.currentUserParticipant?.permission == .readWrite
    }
}
