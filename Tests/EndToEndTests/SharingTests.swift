import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Sharing between users")
struct SharingTests {
    static let zone = CKRecordZone(zoneName: "Lists")

    /// Shares a list of Ada's with an item below it; anyone with the link may write.
    private func share(_ ada: CKContainer) async throws -> (root: CKRecord, share: CKShare) {
        let database = ada.privateCloudDatabase
        try await database.save(Self.zone)
        let root = CKRecord(
            recordType: "List",
            recordID: CKRecord.ID(recordName: "list", zoneID: Self.zone.zoneID)
        )
        root["title"] = "Shopping"
        let item = CKRecord(
            recordType: "Item",
            recordID: CKRecord.ID(recordName: "milk", zoneID: Self.zone.zoneID)
        )
        item["title"] = "Milk"
        item.setParent(root)
        let share = CKShare(rootRecord: root)
        share[CKShare.SystemFieldKey.title] = "Shopping"
        share.publicPermission = .readWrite
        let (results, _) = try await database.modifyRecords(
            saving: [root, item, share],
            deleting: []
        )
        for record in [root, item, share] { _ = try results[record.recordID]?.get() }
        return (root, share)
    }

    @Test(
        "A shared record is found by its link, accepted, read and changed by another user",
        arguments: CloudFixture.allCases
    )
    func linkSharing(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let (root, share) = try await share(ada)
            #expect(root.share?.recordID == share.recordID)
            let url = try #require(share.url)
            let metadata = try await bob.shareMetadata(for: url)
            #expect(metadata.hierarchicalRootRecordID?.recordName == "list")
            #expect(metadata.share[CKShare.SystemFieldKey.title] == "Shopping")
            try await bob.accept(metadata)

            let shared = bob.sharedCloudDatabase
            let zones = try await shared.allRecordZones()
            let zoneID = try #require(zones.first { $0.zoneID.zoneName == "Lists" }?.zoneID)
            #expect(zoneID.ownerName != CKCurrentUserDefaultName)
            let item = try await shared.record(
                for: CKRecord.ID(recordName: "milk", zoneID: zoneID)
            )
            #expect(item["title"] == "Milk")
            item["title"] = "Oat milk"
            try await shared.save(item)
            let mine = try await ada.privateCloudDatabase.record(
                for: CKRecord.ID(recordName: "milk", zoneID: Self.zone.zoneID)
            )
            #expect(mine["title"] == "Oat milk")
            let changes = try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil)
            #expect(
                Set(changes.modificationResultsByID.keys.map(\.recordName)).isSuperset(
                    of: ["list", "milk"]
                )
            )
        }
    }

    private static func code(_ result: Result<CKRecord, any Error>) -> CKError.Code? {
        if case .failure(let error as CKError) = result { error.code } else { nil }
    }

    @Test(
        "A record is in one share only, and a zone that is shared as a whole holds no other",
        arguments: CloudFixture.allCases
    )
    func oneShare(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let database = ada.privateCloudDatabase
            let (root, share) = try await share(ada)
            let fresh = try await database.record(for: root.recordID)
            let (again, _) = try await database.modifyRecords(
                saving: [fresh, CKShare(rootRecord: fresh)],
                deleting: [],
                atomically: false
            )
            #expect(again.values.compactMap(Self.code) == [.alreadyShared])
            #expect(try await database.record(for: root.recordID).share?.recordID == share.recordID)

            let zone = try await database.save(CKRecordZone(zoneName: "Whole"))
            try await database.save(CKShare(recordZoneID: zone.zoneID))
            let other = CKRecord(
                recordType: "List",
                recordID: CKRecord.ID(recordName: "other", zoneID: zone.zoneID)
            )
            try await database.save(other)
            let (below, _) = try await database.modifyRecords(
                saving: [other, CKShare(rootRecord: other)],
                deleting: [],
                atomically: false
            )
            #expect(below.values.compactMap(Self.code) == [.serverRejectedRequest])
        }
    }

    @Test(
        "A share has at most 100 participants, its owner included",
        arguments: CloudFixture.allCases
    )
    func participantLimit(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let (_, share) = try await share(ada)
            share.publicPermission = .none
            let addresses = (0..<100).map { "p\($0)@example.com" }
            let found = try await ada.shareParticipants(forEmailAddresses: addresses)
            let people = try addresses.map { try #require(found[$0]).get() }
            for person in people.prefix(99) { share.addParticipant(person) }
            let database = ada.privateCloudDatabase
            let saved = try #require(try await database.save(share) as? CKShare)
            #expect(saved.participants.count == 100)
            saved.addParticipant(people[99])
            await expectCKError(.tooManyParticipants) { try await database.save(saved) }
        }
    }

    @Test("A link that leads nowhere is unknownItem", arguments: CloudFixture.allCases)
    func unknownLink(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let device = try await cloud.device(of: try await cloud.addUser())
            let url = try #require(URL(string: "https://www.icloud.com/share/0nothing"))
            await expectCKError(.unknownItem) { try await device.shareMetadata(for: url) }
        }
    }

    @Test("Subscriptions are saved, listed, fetched and deleted", arguments: CloudFixture.allCases)
    func subscriptions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(Self.zone)
            let zone = CKRecordZoneSubscription(
                zoneID: Self.zone.zoneID,
                subscriptionID: "zone"
            )
            let all = CKDatabaseSubscription(subscriptionID: "all")
            for subscription in [zone, all] {
                subscription.notificationInfo = .init(shouldSendContentAvailable: true)
                try await database.save(subscription)
            }
            let listed = try await database.allSubscriptions()
            #expect(Set(listed.map(\.subscriptionID)) == ["zone", "all"])
            let read = try await database.subscription(for: "zone") as? CKRecordZoneSubscription
            #expect(read?.zoneID == Self.zone.zoneID)
            #expect(read?.notificationInfo?.shouldSendContentAvailable == true)
            try await database.deleteSubscription(withID: "zone")
            try await database.deleteSubscription(withID: "zone")
            await expectCKError(.unknownItem) { try await database.subscription(for: "zone") }
        }
    }
}
