import CloudKit
import CloudKitTesting
import Support
import Testing

/// A list that Ada shares, with an item below it.
struct SharedList {
    static let zoneID = CKRecordZone.ID(zoneName: "Lists")

    /// Ada and her device.
    let ada: TestCloud.User
    let owner: CKContainer
    let root: CKRecord
    let item: CKRecord
    let share: CKShare

    /// The database in which the list is Ada's own.
    var database: CKDatabase { owner.privateCloudDatabase }

    /// Shares the list: with anyone who has the link, with some users, or without participants.
    init(
        in cloud: Cloud,
        publicPermission: CKShare.ParticipantPermission = .none,
        inviting guests: [TestCloud.User] = [],
        to permission: CKShare.ParticipantPermission = .readWrite
    ) async throws {
        ada = try await cloud.addUser("Ada")
        owner = try await cloud.device(of: ada)
        root = Self.record("list", type: "List")
        item = Self.record("milk")
        item.setParent(root)
        share = CKShare(rootRecord: root)
        share.publicPermission = publicPermission
        for guest in guests {
            let participant = try await participant(guest)
            participant.permission = permission
            share.addParticipant(participant)
        }
        try await database.save(CKRecordZone(zoneID: Self.zoneID))
        try await Self.save([root, item, share], in: database)
    }

    /// Returns a record of Ada's zone.
    static func record(_ name: String, type: String = "Item") -> CKRecord {
        CKRecord(recordType: type, recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
    }

    /// Saves records in one operation, which must save them all.
    static func save(_ records: [CKRecord], in database: CKDatabase) async throws {
        let (results, _) = try await database.modifyRecords(saving: records, deleting: [])
        for record in records { _ = try #require(results[record.recordID]).get() }
    }

    /// Returns a participant whom Ada can invite.
    func participant(_ user: TestCloud.User) async throws -> CKShare.Participant {
        try await owner.shareParticipant(
            forUserRecordID: CKRecord.ID(recordName: user.recordName)
        )
    }

    /// Accepts the share on a device; returns its zone in the shared database.
    func admit(_ guest: CKContainer) async throws -> CKRecordZone.ID {
        let metadata = try await guest.shareMetadata(for: try #require(share.url))
        return try await guest.accept(metadata).recordID.zoneID
    }

    /// Returns the current share.
    func current() async throws -> CKShare {
        try #require(try await database.record(for: share.recordID) as? CKShare)
    }

    /// Changes the current share.
    func change(_ body: (CKShare) -> Void) async throws {
        let share = try await current()
        body(share)
        try await database.save(share)
    }
}

extension Cloud {
    /// Creates a user with a device.
    func person(_ name: String) async throws -> (user: TestCloud.User, device: CKContainer) {
        let user = try await addUser(name)
        return (user, try await device(of: user))
    }
}
