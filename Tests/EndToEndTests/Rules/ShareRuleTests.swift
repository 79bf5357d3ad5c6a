import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Rules: shares")
struct ShareRuleTests {
    @Test(
        "A new share is saved in the same operation as its root record",
        arguments: CloudFixture.allCases
    )
    func sameOperation(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: SharedList.zoneID))
            let root = try await database.save(SharedList.record("list"))
            let alone = CKShare(rootRecord: root)
            await expectCKError(.invalidArguments) { try await database.save(alone) }
            await expectCKError(.unknownItem) { try await database.record(for: alone.recordID) }

            let share = CKShare(rootRecord: root)
            #expect(share.url == nil)
            try await SharedList.save([root, share], in: database)
            #expect(share.url != nil)
            let fetched = try await database.record(for: root.recordID)
            #expect(fetched.share?.recordID == share.recordID)
        }
    }

    @Test(
        "A share is saved onto the version that it comes from, whatever the policy says",
        arguments: CloudFixture.allCases,
        [CKModifyRecordsOperation.RecordSavePolicy.changedKeys, .allKeys]
    )
    func policy(
        fixture: CloudFixture,
        policy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws {
        try await fixture.run { cloud in
            let title = CKShare.SystemFieldKey.title
            let list = try await SharedList(in: cloud)
            let mine = try await list.current()
            try await list.change { $0[title] = "theirs" }
            mine[title] = "mine"
            let (results, _) = try await list.database.modifyRecords(
                saving: [mine],
                deleting: [],
                savePolicy: policy
            )
            let error = await expectCKError(.serverRecordChanged) {
                try #require(results[mine.recordID]).get()
            }
            let server = try #require(error?.serverRecord as? CKShare)
            #expect(server[title] == "theirs")
            server[title] = "mine"
            try await list.database.save(server)
            #expect(try await list.current()[title] == "mine")
        }
    }

    // MARK: The end of a share

    @Test(
        "Deleting the root record deletes its share, for those who take part too",
        arguments: CloudFixture.allCases
    )
    func rootDeletion(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, inviting: [bob])
            let zoneID = try await list.admit(phone)
            let (_, deleted) = try await list.database.modifyRecords(
                saving: [],
                deleting: [list.root.recordID, list.item.recordID]
            )
            for result in deleted.values { try result.get() }
            await expectCKError(.unknownItem) { try await list.current() }
            let shared = phone.sharedCloudDatabase
            #expect(try await shared.allRecordZones().isEmpty)
            await expectCKError(.zoneNotFound) { try await shared.recordZone(for: zoneID) }
            let url = try #require(list.share.url)
            await expectCKError(.unknownItem) { try await phone.shareMetadata(for: url) }
        }
    }

    @Test(
        "When its owner deletes a share, the root record stays and belongs to no share",
        arguments: CloudFixture.allCases
    )
    func shareDeletion(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, inviting: [bob])
            _ = try await list.admit(phone)
            try await list.database.deleteRecord(withID: list.share.recordID)
            let root = try await list.database.record(for: list.root.recordID)
            #expect(root.share == nil)
            #expect(try await phone.sharedCloudDatabase.allRecordZones().isEmpty)

            let again = CKShare(rootRecord: root)
            try await SharedList.save([root, again], in: list.database)
            #expect(root.share?.recordID == again.recordID)
            #expect(again.participants.map(\.role) == [.owner])
            #expect(try await phone.sharedCloudDatabase.allRecordZones().isEmpty)
        }
    }

    @Test(
        "A participant who deletes the share in the shared database leaves it",
        arguments: CloudFixture.allCases
    )
    func leaving(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let (cleo, tablet) = try await cloud.person("Cleo")
            let list = try await SharedList(in: cloud, inviting: [bob, cleo])
            let zoneID = try await list.admit(phone)
            _ = try await list.admit(tablet)
            try await phone.sharedCloudDatabase.deleteRecord(
                withID: CKRecord.ID(
                    recordName: list.share.recordID.recordName,
                    zoneID: zoneID
                )
            )
            #expect(try await phone.sharedCloudDatabase.allRecordZones().isEmpty)

            let share = try await list.current()
            #expect(
                share.participants.dropFirst().map(\.userIdentity.userRecordID?.recordName)
                    == [cleo.recordName]
            )
            let root = try await list.database.record(for: list.root.recordID)
            #expect(root.share?.recordID == share.recordID)
            let read = CKRecord.ID(recordName: "list", zoneID: zoneID)
            _ = try await tablet.sharedCloudDatabase.record(for: read)
        }
    }

    @Test(
        "The link belongs to the root record: shared again, it has the same one",
        arguments: CloudFixture.allCases
    )
    func stableLink(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let list = try await SharedList(in: cloud)
            let url = try #require(list.share.url)
            try await list.change { $0.publicPermission = .readOnly }
            #expect(try await list.current().url == url)
            try await list.database.deleteRecord(withID: list.share.recordID)
            let root = try await list.database.record(for: list.root.recordID)
            let again = CKShare(rootRecord: root)
            try await SharedList.save([root, again], in: list.database)
            #expect(again.url == url)
        }
    }
}
