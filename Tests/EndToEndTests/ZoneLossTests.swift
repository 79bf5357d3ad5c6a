import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Zones that the user's settings delete")
struct ZoneLossTests {
    enum Loss: CaseIterable, Sendable {
        case purge, encryptedDataReset

        var reason: CKDatabase.DatabaseChange.Deletion.Reason {
            self == .purge ? .purged : .encryptedDataReset
        }

        func happen(_ names: [String]?, of user: TestCloud.User, in cloud: Cloud) async throws {
            switch self {
            case .purge: try await cloud.purgeZones(names, of: user)
            case .encryptedDataReset: try await cloud.resetEncryptedData(inZones: names, of: user)
            }
        }

        /// Expects a request to fail with this loss's error.
        func expectError<Success>(_ request: () async throws -> Success) async {
            let code = self == .purge ? CKError.Code.userDeletedZone : .zoneNotFound
            let error = await expectCKError(code, performing: request)
            let key = error?.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool
            #expect(key == (self == .purge ? nil : true))
            #expect(error?.localizedDescription.contains("settings") == (self == .purge))
        }
    }

    private static let zone = CKRecordZone(zoneName: "Notes")
    private static let zoneID = zone.zoneID
    private static let recordID = CKRecord.ID(recordName: "n", zoneID: zoneID)

    private static func note() -> CKRecord { CKRecord(recordType: "Note", recordID: recordID) }

    @Test(
        "Everything in such a zone fails with the code of its loss, until the zone is made again",
        arguments: CloudFixture.allCases,
        Loss.allCases
    )
    func requests(fixture: CloudFixture, loss: Loss) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user)
            try await database.save(Self.zone)
            try await database.save(Self.note())
            let token = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
                .changeToken
            try await loss.happen(["Notes"], of: user, in: cloud)

            await loss.expectError { try await database.record(for: Self.recordID) }
            await loss.expectError { try await database.save(Self.note()) }
            await loss.expectError { try await database.deleteRecord(withID: Self.recordID) }
            await loss.expectError { try await database.recordZone(for: Self.zoneID) }
            await loss.expectError {
                try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: token)
            }
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
            await loss.expectError {
                try await database.records(matching: query, inZoneWith: Self.zoneID)
            }
            // Other zones of the same request are served.
            let other = CKRecord(recordType: "Note")
            let (results, _) = try await database.modifyRecords(
                saving: [Self.note(), other],
                deleting: []
            )
            await loss.expectError { try #require(results[Self.recordID]).get() }
            _ = try #require(results[other.recordID]).get()
            #expect(try await database.allRecordZones().map(\.zoneID) == [.default])
            try await database.deleteRecordZone(withID: Self.zoneID)

            try await database.save(Self.zone)
            await expectCKError(.changeTokenExpired) {
                try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: token)
            }
            await expectCKError(.unknownItem) { try await database.record(for: Self.recordID) }
            try await database.save(Self.note())
        }
    }

    @Test(
        "The database's changes give the reason, and each operation block receives its own",
        arguments: CloudFixture.allCases,
        Loss.allCases
    )
    func changes(fixture: CloudFixture, loss: Loss) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user)
            let deleted = CKRecordZone(zoneName: "Deleted")
            for zone in [Self.zone, deleted] { try await database.save(zone) }
            let token = try await database.databaseChanges(since: nil).changeToken
            try await database.deleteRecordZone(withID: deleted.zoneID)
            try await loss.happen(nil, of: user, in: cloud)

            let changes = try await database.databaseChanges(since: token)
            #expect(changes.modifications.isEmpty)
            #expect(changes.deletions.map(\.zoneID) == [deleted.zoneID, Self.zoneID])
            #expect(changes.deletions.map(\.reason) == [.deleted, loss.reason])

            let log = Log()
            let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
            operation.recordZoneWithIDWasDeletedBlock = { log.note("deleted \($0.zoneName)") }
            operation.recordZoneWithIDWasPurgedBlock = { log.note("purged \($0.zoneName)") }
            operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = {
                log.note("encryptedDataReset \($0.zoneName)")
            }
            await finish([operation], on: database)
            #expect(log.all == ["deleted Deleted", "\(loss.reason) Notes"])
            // An operation without its own block for the reason reports that the zone was deleted.
            let plain = Log()
            let old = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
            old.recordZoneWithIDWasDeletedBlock = { plain.note($0.zoneName) }
            await finish([old], on: database)
            #expect(plain.all == ["Deleted", "Notes"])
        }
    }

    @Test(
        "A zone that was made again is reported as lost, with the reason, and then as it is",
        arguments: CloudFixture.allCases,
        Loss.allCases
    )
    func again(fixture: CloudFixture, loss: Loss) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user)
            try await database.save(Self.zone)
            let token = try await database.databaseChanges(since: nil).changeToken
            try await loss.happen(nil, of: user, in: cloud)
            try await database.save(Self.zone)
            let changes = try await database.databaseChanges(since: token)
            #expect(changes.deletions.map(\.reason) == [loss.reason])
            #expect(changes.modifications.map(\.zoneID) == [Self.zoneID])

            // A later deletion by an app is an ordinary deletion.
            try await database.deleteRecordZone(withID: Self.zoneID)
            let later = try await database.databaseChanges(since: changes.changeToken)
            #expect(later.deletions.map(\.reason) == [.deleted])
            let error = await expectCKError(.zoneNotFound) {
                try await database.save(Self.note())
            }
            #expect(error?.userInfo[CKErrorUserDidResetEncryptedDataKey] == nil)
        }
    }

    @Test(
        "All custom zones of the user go, or those that are named; other users keep theirs",
        arguments: CloudFixture.allCases,
        Loss.allCases
    )
    func scope(fixture: CloudFixture, loss: Loss) async throws {
        try await fixture.run { cloud in
            let (ada, bob) = (try await cloud.addUser("Ada"), try await cloud.addUser("Bob"))
            let hers = try await cloud.database(of: ada)
            let his = try await cloud.database(of: bob)
            let zones = ["A", "B", "C"].map { CKRecordZone(zoneName: $0) }
            for database in [hers, his] {
                _ = try await database.modifyRecordZones(saving: zones, deleting: [])
            }
            let record = try await hers.save(CKRecord(recordType: "Note"))
            func names(_ database: CKDatabase) async throws -> Set<String> {
                Set(try await database.allRecordZones().map(\.zoneID.zoneName))
            }
            let home = CKRecordZone.ID.defaultZoneName
            try await loss.happen(["B"], of: ada, in: cloud)
            #expect(try await names(hers) == [home, "A", "C"])
            await #expect(throws: RequestError.self) {
                try await loss.happen(["A", "B"], of: ada, in: cloud)
            }
            #expect(try await names(hers) == [home, "A", "C"])
            try await loss.happen(nil, of: ada, in: cloud)
            #expect(try await names(hers) == [home])
            #expect(try await names(his) == [home, "A", "B", "C"])
            #expect(try await hers.record(for: record.recordID).recordType == "Note")
        }
    }

    @Test(
        "Those with whom the zone was shared see a deleted zone, without its owner's reason",
        arguments: CloudFixture.allCases,
        Loss.allCases
    )
    func participants(fixture: CloudFixture, loss: Loss) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser("Ada")
            let ada = try await cloud.device(of: user)
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            try await ada.privateCloudDatabase.save(Self.zone)
            let share = CKShare(recordZoneID: Self.zoneID)
            share.publicPermission = .readWrite
            try await ada.privateCloudDatabase.save(share)
            try await bob.accept(try await bob.shareMetadata(for: try #require(share.url)))
            let shared = bob.sharedCloudDatabase
            let before = try await shared.databaseChanges(since: nil)
            let zoneID = try #require(before.modifications.first?.zoneID)
            try await loss.happen(nil, of: user, in: cloud)
            let changes = try await shared.databaseChanges(since: before.changeToken)
            #expect(changes.deletions.map(\.zoneID) == [zoneID])
            #expect(changes.deletions.map(\.reason) == [.deleted])
            let error = await expectCKError(.zoneNotFound) {
                try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil)
            }
            #expect(error?.userInfo[CKErrorUserDidResetEncryptedDataKey] == nil)
        }
    }
}
