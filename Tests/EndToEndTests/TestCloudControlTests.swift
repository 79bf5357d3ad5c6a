import CloudKit
import CloudKitExtras
import CloudKitTesting
import Support
import Testing

@Suite("What a test does to its cloud")
struct TestCloudControlTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private static func note(_ name: String) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
    }

    @Test("A restored cloud holds what the snapshot held, and its old change tokens are expired")
    func snapshot() async throws {
        let cloud = try await TestCloud.ofRun()
        let user = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: user).privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: Self.zoneID))
        try await database.save(Self.note("a"))
        try await cloud.takeSnapshot("one note")
        try await database.save(Self.note("b"))
        let all = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
        try await cloud.restoreSnapshot("one note")
        do {
            _ = try await database.recordZoneChanges(
                inZoneWith: Self.zoneID,
                since: all.changeToken
            )
            Issue.record("The token is still good")
        } catch let error as CKError {
            #expect(error.code == .changeTokenExpired)
        }
        let found = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
        #expect(found.modificationResultsByID.keys.map(\.recordName) == ["a"])
        try await cloud.reset()
        #expect(try await database.allRecordZones().map(\.zoneID) == [.default])
    }

    @Test("Containers of other names are empty, and know nothing of each other")
    func containers() async throws {
        let cloud = try await TestCloud.ofRun(opensContainers: true)
        let user = try await cloud.addUser("Ada")
        let first = try await cloud.device(of: user, container: "iCloud.test.1")
        let second = try await cloud.device(of: user, container: "iCloud.test.2")
        try await first.privateCloudDatabase.save(CKRecordZone(zoneID: Self.zoneID))
        #expect(try await first.privateCloudDatabase.allRecordZones().count == 2)
        #expect(try await second.privateCloudDatabase.allRecordZones().count == 1)
        let names = [try await first.userRecordID(), try await second.userRecordID()]
        #expect(Set(names.map(\.recordName)) == [user.recordName])
        try await cloud.reset(container: "iCloud.test.1")
        #expect(try await first.privateCloudDatabase.allRecordZones().count == 1)
    }

    @Test("A session ends when the cloud's time says so")
    func virtualTime() async throws {
        let cloud = try await TestCloud.ofRun(clock: VirtualClock())
        let user = try await cloud.addUser("Ada")
        let client = try await cloud.client(of: user)
        _ = try await client.listZones(in: .private)
        cloud.advance(by: .seconds(15 * 24 * 60 * 60))
        await #expect(throws: WebClientError.self) { try await client.listZones(in: .private) }
        _ = try await cloud.client(of: user).listZones(in: .private)
    }
}
