import CloudKit
import GRDB

extension StoreDelegate {
    /// Updates permissions from fetched shares.
    func fetched(shares: [CKShare], _ zone: StoreZone) async throws {
        guard !shares.isEmpty else { return }
        let permissions = shares.map { (name: $0.recordID.recordName, writes: Self.writes($0)) }
        try await file.writer.write { database in
            for share in permissions {
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
