import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Rules: errors for what is missing")
struct MissingRuleTests {
    private let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
    private let recordID = CKRecord.ID(recordName: "n")

    private func run(
        _ fixture: CloudFixture,
        _ body: @Sendable (CKContainer) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            try await body(try await cloud.device(of: try await cloud.addUser()))
        }
    }

    @Test("A missing record: unknownItem", arguments: CloudFixture.allCases)
    func record(fixture: CloudFixture) async throws {
        try await run(fixture) { device in
            await expectCKError(.unknownItem) {
                try await device.privateCloudDatabase.record(for: recordID)
            }
        }
    }

    @Test(
        "A missing zone: zoneNotFound, for records, changes and the zone itself",
        arguments: CloudFixture.allCases
    )
    func zone(fixture: CloudFixture) async throws {
        try await run(fixture) { device in
            let database = device.privateCloudDatabase
            let recordID = CKRecord.ID(recordName: "n", zoneID: nowhere)
            await expectCKError(.zoneNotFound) { try await database.record(for: recordID) }
            await expectCKError(.zoneNotFound) {
                try await database.save(CKRecord(recordType: "Note", recordID: recordID))
            }
            await expectCKError(.zoneNotFound) { try await database.recordZone(for: nowhere) }
            await expectCKError(.zoneNotFound) {
                try await database.recordZoneChanges(inZoneWith: nowhere, since: nil)
            }
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
            await expectCKError(.zoneNotFound) {
                try await database.records(matching: query, inZoneWith: nowhere)
            }
        }
    }

    @Test(
        "Deleting a record or a zone that is missing succeeds",
        arguments: CloudFixture.allCases
    )
    func deletion(fixture: CloudFixture) async throws {
        try await run(fixture) { device in
            let database = device.privateCloudDatabase
            let deletedID = try await database.deleteRecord(withID: recordID)
            #expect(deletedID == recordID)
            let deletedZoneID = try await database.deleteRecordZone(withID: nowhere)
            #expect(deletedZoneID == nowhere)
        }
    }

    @Test(
        "A missing subscription, an unknown type and a share that is not there: unknownItem",
        arguments: CloudFixture.allCases
    )
    func items(fixture: CloudFixture) async throws {
        try await run(fixture) { device in
            let database = device.privateCloudDatabase
            await expectCKError(.unknownItem) { try await database.subscription(for: "none") }
            let query = CKQuery(recordType: "Nobody", predicate: NSPredicate(value: true))
            await expectCKError(.unknownItem) { try await database.records(matching: query) }
            let url = try #require(URL(string: "https://www.icloud.com/share/0nothing#Note"))
            await expectCKError(.unknownItem) { try await device.shareMetadata(for: url) }
        }
    }

    @Test(
        "Zones, shares, change feeds and zone subscriptions of the public database: badDatabase",
        arguments: CloudFixture.allCases
    )
    func publicDatabase(fixture: CloudFixture) async throws {
        try await run(fixture) { device in
            let database = device.publicCloudDatabase
            await expectCKError(.badDatabase) {
                try await database.save(CKRecordZone(zoneName: "Z"))
            }
            let root = CKRecord(recordType: "Note")
            await expectCKError(.badDatabase) {
                try await database.modifyRecords(
                    saving: [root, CKShare(rootRecord: root)],
                    deleting: []
                )
            }
            await expectCKError(.badDatabase) { try await database.databaseChanges(since: nil) }
            await expectCKError(.badDatabase) {
                try await database.recordZoneChanges(inZoneWith: .default, since: nil)
            }
            let subscription = CKRecordZoneSubscription(zoneID: .default)
            subscription.notificationInfo = .init(shouldSendContentAvailable: true)
            await expectCKError(.badDatabase) { try await database.save(subscription) }
        }
    }

    @Test("A zone made in the shared database: badDatabase", arguments: CloudFixture.allCases)
    func sharedDatabase(fixture: CloudFixture) async throws {
        try await run(fixture) { device in
            await expectCKError(.badDatabase) {
                try await device.sharedCloudDatabase.save(CKRecordZone(zoneName: "Z"))
            }
        }
    }

    @Test(
        "Without an account the private database is notAuthenticated, the public one readable",
        arguments: CloudFixture.allCases
    )
    func account(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser())
            let saved = try await ada.publicCloudDatabase.save(CKRecord(recordType: "Note"))
            let nobody = try await cloud.device(of: nil)
            let read = try await nobody.publicCloudDatabase.record(for: saved.recordID)
            #expect(read.recordType == "Note")
            await expectCKError(.notAuthenticated) {
                try await nobody.publicCloudDatabase.save(CKRecord(recordType: "Note"))
            }
            await expectCKError(.notAuthenticated) {
                try await nobody.privateCloudDatabase.record(for: recordID)
            }
        }
    }
}
