import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Rules: names")
struct NameRuleTests {
    private static let longest = String(repeating: "a", count: 255)

    private func save(_ record: CKRecord, _ database: CKDatabase) async throws -> CKRecord {
        try await database.save(record)
    }

    @Test(
        "A record type is a letter with letters, digits and underscores behind it, 255 at most",
        arguments: CloudFixture.allCases
    )
    func recordTypes(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            for type in ["A", "a1_B", Self.longest] {
                #expect(try await save(CKRecord(recordType: type), database).recordType == type)
            }
            for type in ["1a", "_a", "a b", "a.b", "é", Self.longest + "a"] {
                await expectCKError(.invalidArguments) {
                    try await save(CKRecord(recordType: type), database)
                }
            }
        }
    }

    @Test(
        "User records cannot be made, and shares only as CKShare",
        arguments: CloudFixture.allCases
    )
    func systemTypes(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            for type in ["Users", "cloudkit.share"] {
                await expectCKError(.invalidArguments) {
                    try await save(CKRecord(recordType: type), database)
                }
            }
        }
    }

    @Test(
        "A field key is a letter with letters, digits and underscores behind it, 255 at most",
        arguments: CloudFixture.allCases
    )
    func fieldKeys(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = CKRecord(recordType: "Note")
            for key in ["a", "a1_B", Self.longest] { record[key] = 1 }
            #expect(try await save(record, database).allKeys().count == 3)
            for key in ["1a", "a b", "a.b", "é", Self.longest + "a"] {
                let record = CKRecord(recordType: "Note")
                record[key] = 1
                await expectCKError(.invalidArguments) { try await save(record, database) }
            }
        }
    }

    @Test(
        "A record name is ASCII, does not start with an underscore and has 255 characters at most",
        arguments: CloudFixture.allCases
    )
    func recordNames(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            func record(_ name: String) -> CKRecord {
                CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
            }
            for name in ["1", "a b/c?d&e=%", "{}\"'", Self.longest] {
                #expect(try await save(record(name), database).recordID.recordName == name)
                let fetched = try await database.record(for: CKRecord.ID(recordName: name))
                #expect(fetched.recordID.recordName == name)
            }
            for name in ["_a", "é", Self.longest + "a"] {
                await expectCKError(.invalidArguments) { try await save(record(name), database) }
            }
        }
    }

    @Test(
        "A record name is unique in its zone, across types",
        arguments: CloudFixture.allCases
    )
    func uniqueNames(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let zone = try await database.save(CKRecordZone(zoneName: "Z"))
            let recordID = CKRecord.ID(recordName: "n")
            try await database.save(CKRecord(recordType: "Note", recordID: recordID))
            await expectCKError(.serverRecordChanged) {
                try await database.save(CKRecord(recordType: "Other", recordID: recordID))
            }
            let elsewhere = CKRecord.ID(recordName: "n", zoneID: zone.zoneID)
            try await database.save(CKRecord(recordType: "Other", recordID: elsewhere))
            #expect(try await database.record(for: recordID).recordType == "Note")
        }
    }

    @Test(
        "A zone name is ASCII, does not start with an underscore, and is unique for its owner",
        arguments: CloudFixture.allCases
    )
    func zoneNames(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.database(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.database(of: try await cloud.addUser("Bob"))
            for name in ["Z", "1 a/b", Self.longest] {
                try await ada.save(CKRecordZone(zoneName: name))
                try await bob.save(CKRecordZone(zoneName: name))
            }
            // An existing zone is not created twice.
            try await ada.save(CKRecordZone(zoneName: "Z"))
            let zones = try await ada.allRecordZones().map(\.zoneID.zoneName)
            #expect(zones.filter { $0 == "Z" }.count == 1)
            for name in ["_a", "é", Self.longest + "a"] {
                await expectCKError(.invalidArguments) {
                    try await ada.save(CKRecordZone(zoneName: name))
                }
            }
        }
    }

    @Test(
        "The owner of one's own zones is CKCurrentUserDefaultName",
        arguments: CloudFixture.allCases
    )
    func owners(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneName: "Z"))
            let owners = try await database.allRecordZones().map(\.zoneID.ownerName)
            #expect(owners == Array(repeating: CKCurrentUserDefaultName, count: owners.count))
            let record = CKRecord(
                recordType: "Note",
                recordID: CKRecord.ID(
                    recordName: "n",
                    zoneID: CKRecordZone.ID(zoneName: "Z", ownerName: CKCurrentUserDefaultName)
                )
            )
            let saved = try await database.save(record)
            #expect(saved.recordID.zoneID.ownerName == CKCurrentUserDefaultName)
        }
    }

    @Test(
        "A subscription's ID is one's own or a new UUID, and known to its user only",
        arguments: CloudFixture.allCases
    )
    func subscriptions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.database(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.database(of: try await cloud.addUser("Bob"))
            #expect(UUID(uuidString: CKDatabaseSubscription().subscriptionID) != nil)
            func subscription() -> CKSubscription {
                let subscription = CKDatabaseSubscription(subscriptionID: "all changes")
                subscription.notificationInfo = .init(shouldSendContentAvailable: true)
                return subscription
            }
            #expect(try await ada.save(subscription()).subscriptionID == "all changes")
            await expectCKError(.unknownItem) { try await bob.subscription(for: "all changes") }
            try await bob.save(subscription())
            #expect(try await ada.allSubscriptions().count == 1)
        }
    }
}
