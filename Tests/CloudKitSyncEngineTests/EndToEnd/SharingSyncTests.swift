import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Engines of shared databases")
struct SharingSyncTests {
    /// Returns Ada's contacts, synced by her engine, and the share of the zone for everyone with the
    /// link.
    private func share(_ ada: CKContainer) async throws -> (app: Contacts, share: CKShare) {
        let app = Contacts(ada.privateCloudDatabase)
        app.save(["1": "Ann", "2": "Ben"])
        try await app.engine.sendChanges()
        let share = CKShare(recordZoneID: Contacts.zoneID)
        share.publicPermission = .readWrite
        try await ada.privateCloudDatabase.save(share)
        return (app, share)
    }

    /// Returns Bob's app, which follows the zone that was shared with him.
    private func join(_ bob: CKContainer, _ share: CKShare) async throws -> Contacts {
        let metadata = try await bob.shareMetadata(for: try #require(share.url))
        try await bob.accept(metadata)
        let zones = try await bob.sharedCloudDatabase.allRecordZones()
        let zoneID = try #require(
            zones.map(\.zoneID).first { $0.zoneName == Contacts.zoneID.zoneName }
        )
        #expect(zoneID.ownerName != CKCurrentUserDefaultName)
        return Contacts(
            bob.sharedCloudDatabase,
            contents: .init(makesZone: false),
            zoneID: zoneID
        )
    }

    @Test(
        "A participant's edits reach the owner, and the owner's the participant",
        arguments: CloudFixture.allCases
    )
    func bothWays(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let (hers, share) = try await share(ada)
            let his = try await join(bob, share)
            try await his.engine.fetchChanges()
            #expect(his.list == ["1": "Ann", "2": "Ben"])

            his.save(["1": "Anna", "3": "Cleo"])
            his.delete(["2"])
            try await his.engine.sendChanges()
            try await hers.engine.fetchChanges()
            #expect(hers.list == ["1": "Anna", "3": "Cleo"])

            hers.save(["3": "Clio"])
            try await hers.engine.sendChanges()
            try await his.engine.fetchChanges()
            #expect(his.list == hers.list)
        }
    }

    @Test(
        "Owner and participant in conflict: the second is notified, whoever it is",
        arguments: CloudFixture.allCases,
        [true, false]
    )
    func conflict(_ fixture: CloudFixture, _ isOwnerFirst: Bool) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let (hers, share) = try await share(ada)
            let his = try await join(bob, share)
            try await his.engine.fetchChanges()
            hers.save(["1": "Hers"])
            his.save(["1": "His"])
            let (first, second) = isOwnerFirst ? (hers, his) : (his, hers)
            try await first.engine.sendChanges()
            await expectCKError(.partialFailure) { try await second.engine.sendChanges() }
            #expect(second.engine.state.pendingRecordZoneChanges.count == 1)
            try await second.engine.sendChanges()
            #expect(second.list == first.list)
        }
    }

    @Test(
        "A share that ends is a zone that goes, and edits of it are handed back",
        arguments: CloudFixture.allCases
    )
    func revocation(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let (hers, share) = try await share(ada)
            let his = try await join(bob, share)
            try await his.engine.fetchChanges()
            try await ada.privateCloudDatabase.deleteRecord(withID: share.recordID)

            his.save(["1": "Too late"])
            let error = try await #require(throws: CKError.self) {
                try await his.engine.sendChanges()
            }
            let item = error.partialErrorsByItemID?[his.recordID("1")] as? CKError
            #expect(item?.code == .zoneNotFound || item?.code == .permissionFailure)
            #expect(his.engine.state.pendingRecordZoneChanges.isEmpty)
            try await his.engine.fetchChanges()
            #expect(his.list.isEmpty)
            try await hers.engine.fetchChanges()
            #expect(hers.list == ["1": "Ann", "2": "Ben"])
        }
    }

    @Test("Engines of the private and the shared database of one user share nothing")
    func bothDatabases() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let (hers, share) = try await share(ada)
            let shared = try await join(bob, share)
            let own = Contacts(bob.privateCloudDatabase)
            own.save(["1": "Bob's own"])
            shared.save(["9": "For both"])
            async let first: Void = own.engine.sendChanges()
            async let second: Void = shared.engine.sendChanges()
            _ = try await (first, second)
            try await own.engine.fetchChanges()
            try await shared.engine.fetchChanges()
            #expect(own.list == ["1": "Bob's own"])
            #expect(shared.list == ["1": "Ann", "2": "Ben", "9": "For both"])
            try await hers.engine.fetchChanges()
            #expect(hers.list == shared.list)
        }
    }
}
