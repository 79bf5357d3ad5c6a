import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Rules: shared hierarchies and zones")
struct SharedZoneRuleTests {
    @Test(
        "An accepted share appears as a zone of the shared database, under its owner's name",
        arguments: CloudFixture.allCases
    )
    func place(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, inviting: [bob])
            let shared = phone.sharedCloudDatabase
            #expect(try await shared.allRecordZones().isEmpty)
            let token = try await shared.databaseChanges(since: nil).changeToken
            let zoneID = CKRecordZone.ID(
                zoneName: SharedList.zoneID.zoneName,
                ownerName: list.ada.recordName
            )
            #expect(try await list.admit(phone) == zoneID)
            #expect(try await shared.allRecordZones().map(\.zoneID) == [zoneID])
            #expect(try await shared.recordZone(for: zoneID).zoneID == zoneID)
            let news = try await shared.databaseChanges(since: token)
            #expect(news.modifications.map(\.zoneID) == [zoneID])
            // It is not one of the guest's own zones.
            let own = try await phone.privateCloudDatabase.allRecordZones()
            #expect(own.map(\.zoneID) == [.default])
        }
    }

    // MARK: Hierarchies

    @Test(
        "A hierarchy is what parents make: references share nothing",
        arguments: CloudFixture.allCases
    )
    func hierarchy(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, inviting: [bob])
            let beside = SharedList.record("beside")
            beside["list"] = CKRecord.Reference(record: list.root, action: .none)
            beside["owner"] = CKRecord.Reference(record: list.root, action: .deleteSelf)
            try await list.database.save(beside)
            let zoneID = try await list.admit(phone)
            let shared = phone.sharedCloudDatabase
            let seen = CKRecord.ID(recordName: "beside", zoneID: zoneID)
            await expectCKError(.unknownItem) { try await shared.record(for: seen) }
            let first = try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil)
            let names = Set(first.modificationResultsByID.keys.map(\.recordName))
            #expect(names == ["list", "milk", list.share.recordID.recordName])

            beside.setParent(list.item)
            try await list.database.save(beside)
            _ = try await shared.record(for: seen)
            beside.parent = nil
            try await list.database.save(beside)
            await expectCKError(.unknownItem) { try await shared.record(for: seen) }
        }
    }

    @Test(
        "A participant's new record needs a parent in the shared hierarchy: permissionFailure",
        arguments: CloudFixture.allCases
    )
    func additions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, inviting: [bob])
            try await list.database.save(SharedList.record("diary"))
            let zoneID = try await list.admit(phone)
            let shared = phone.sharedCloudDatabase
            func recordID(_ name: String) -> CKRecord.ID {
                CKRecord.ID(recordName: name, zoneID: zoneID)
            }
            let bread = CKRecord(recordType: "Item", recordID: recordID("bread"))
            await expectCKError(.permissionFailure) { try await shared.save(bread) }
            bread.setParent(recordID("diary"))
            await expectCKError(.permissionFailure) { try await shared.save(bread) }
            bread.setParent(recordID("milk"))
            try await shared.save(bread)
            let added = try await list.database.record(
                for: CKRecord.ID(recordName: "bread", zoneID: SharedList.zoneID)
            )
            #expect(added.parent?.recordID == list.item.recordID)
        }
    }

    // MARK: Whole zones

    @Test(
        "A zone that is shared as a whole opens all its records, and those that come later",
        arguments: CloudFixture.allCases
    )
    func wholeZone(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let (_, phone) = try await cloud.person("Bob")
            let database = ada.privateCloudDatabase
            try await database.save(CKRecordZone(zoneID: SharedList.zoneID))
            try await database.save(SharedList.record("early"))
            let share = CKShare(recordZoneID: SharedList.zoneID)
            share.publicPermission = .readWrite
            try await database.save(share)
            #expect(share.recordID.recordName == CKRecordNameZoneWideShare)

            let metadata = try await phone.shareMetadata(for: try #require(share.url))
            #expect(metadata.hierarchicalRootRecordID == nil)
            let zoneID = try await phone.accept(metadata).recordID.zoneID
            try await database.save(SharedList.record("late"))
            let shared = phone.sharedCloudDatabase
            for name in ["early", "late"] {
                _ = try await shared.record(for: CKRecord.ID(recordName: name, zoneID: zoneID))
            }
            // Without a hierarchy, without a parent.
            try await shared.save(
                CKRecord(
                    recordType: "Item",
                    recordID: CKRecord.ID(recordName: "theirs", zoneID: zoneID)
                )
            )
            _ = try await database.record(for: SharedList.record("theirs").recordID)
        }
    }

    @Test(
        "A zone that is shared as a whole names its share as long as there is one, to guests too",
        arguments: CloudFixture.allCases
    )
    func zoneShare(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (_, phone) = try await cloud.person("Bob")
            let database = try await SharedList(in: cloud).database
            let made = try await database.save(CKRecordZone(zoneName: "Whole"))
            #expect(made.share == nil)
            let share = CKShare(recordZoneID: made.zoneID)
            share.publicPermission = .readOnly
            try await database.save(share)

            let fetched = try await database.recordZone(for: made.zoneID)
            #expect(fetched.share?.recordID == share.recordID)
            #expect(fetched.share?.action == CKRecord.ReferenceAction.none)
            let savedAgain = try await database.save(CKRecordZone(zoneName: "Whole"))
            #expect(savedAgain.share?.recordID == share.recordID)
            // A zone with a shared record is not a shared zone.
            for zone in try await database.allRecordZones() {
                #expect((zone.share != nil) == (zone.zoneID == made.zoneID))
            }

            let metadata = try await phone.shareMetadata(for: try #require(share.url))
            let zoneID = try await phone.accept(metadata).recordID.zoneID
            let zones = try await phone.sharedCloudDatabase.allRecordZones()
            let seen = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
            #expect(zones.map(\.share?.recordID) == [seen])

            try await database.deleteRecord(withID: share.recordID)
            #expect(try await database.recordZone(for: made.zoneID).share == nil)
        }
    }

    @Test(
        "Sharing a zone that is shared already is a conflict: serverRecordChanged",
        arguments: CloudFixture.allCases
    )
    func sharedTwice(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: SharedList.zoneID))
            let share = CKShare(recordZoneID: SharedList.zoneID)
            try await database.save(share)
            let error = await expectCKError(.serverRecordChanged) {
                try await database.save(CKShare(recordZoneID: SharedList.zoneID))
            }
            #expect((error?.serverRecord as? CKShare)?.url == share.url)
        }
    }

    @Test(
        "A zone that holds shared hierarchies is not shared as a whole: invalidArguments",
        arguments: CloudFixture.allCases
    )
    func hierarchiesInZone(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let list = try await SharedList(in: cloud)
            let share = CKShare(recordZoneID: SharedList.zoneID)
            await expectCKError(.invalidArguments) { try await list.database.save(share) }
            await expectCKError(.unknownItem) {
                try await list.database.record(for: share.recordID)
            }
        }
    }
}
