import CloudKit
import CloudKitTesting
import Support
import Synchronization
import Testing

@Suite("Engines, lost zones and accounts out of use", .timeLimit(.minutes(10)))
struct ZoneLossSyncTests {
    /// The events about deleted zones that an app's delegate received.
    private final class Losses: Sendable {
        private let told = Mutex<[String]>([])
        var all: [String] { told.withLock { $0 } }

        func note(_ event: CKSyncEngine.Event) {
            guard case .fetchedDatabaseChanges(let event) = event else { return }
            let words = event.deletions.map { "\($0.reason) \($0.zoneID.zoneName)" }
            told.withLock { $0 += words }
        }
    }

    private func app(_ database: CKDatabase, _ losses: Losses) -> Contacts {
        Contacts(database) { _, event, _ in losses.note(event) }
    }

    @Test(
        "A fetch reports a purged zone with its reason, and what is sent there fails for good",
        arguments: CloudFixture.allCases
    )
    func purge(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let losses = Losses()
            let phone = Contacts(try await cloud.database(of: ada))
            let laptop = app(try await cloud.database(of: ada), losses)
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            try await laptop.engine.fetchChanges()
            try await cloud.purgeZones(of: ada)

            try await laptop.engine.fetchChanges()
            #expect(losses.all == ["purged Contacts"] && laptop.list.isEmpty)
            phone.save(["1": "Anna"])
            let error = try await #require(throws: CKError.self) {
                try await phone.engine.sendChanges()
            }
            let item = error.partialErrorsByItemID?[Contacts.recordID("1")] as? CKError
            #expect(item?.code == .userDeletedZone)
            #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    @Test(
        "After a reset of encrypted data the zone is reported with its reason, made again and filled",
        arguments: CloudFixture.allCases
    )
    func encryptedDataReset(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let losses = Losses()
            let database = try await cloud.database(of: ada)
            let phone = Contacts(database)
            let laptop = app(try await cloud.database(of: ada), losses)
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            try await laptop.engine.fetchChanges()
            try await cloud.resetEncryptedData(of: ada)

            phone.save(["1": "Anna"])
            let error = try await #require(throws: CKError.self) {
                try await phone.engine.sendChanges()
            }
            let item = error.partialErrorsByItemID?[Contacts.recordID("1")] as? CKError
            #expect(item?.code == .zoneNotFound)
            #expect(item?.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
            try await phone.engine.sendChanges()
            try await laptop.engine.fetchChanges()
            #expect(losses.all == ["encryptedDataReset Contacts"])
            #expect(laptop.list == ["1": "Anna"])
        }
    }

    @Test(
        "A device that never knew the zone is not notified that it was purged",
        arguments: CloudFixture.allCases
    )
    func newDevice(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let phone = Contacts(try await cloud.database(of: ada))
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            try await cloud.purgeZones(of: ada)
            let losses = Losses()
            let tablet = app(try await cloud.database(of: ada), losses)
            try await tablet.engine.fetchChanges()
            #expect(losses.all == [])
        }
    }

    @Test(
        "While the account cannot be used, the engine keeps what is pending, and sends it later",
        arguments: CloudFixture.allCases,
        [CKAccountStatus.restricted, .temporarilyUnavailable, .couldNotDetermine]
    )
    func account(_ fixture: CloudFixture, _ status: CKAccountStatus) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let device = try await cloud.device(of: ada)
            try cloud.setAccountStatus(status, on: device)
            let phone = Contacts(device.privateCloudDatabase)
            phone.save(["1": "Ann"])
            let code: CKError.Code =
                status == .restricted ? .managedAccountRestricted : .accountTemporarilyUnavailable
            await expectCKError(code) { try await phone.engine.sendChanges() }
            #expect(phone.engine.state.pendingRecordZoneChanges.count == 1)
            #expect(!phone.story.contains("accountChange"))

            try cloud.setAccountStatus(.available, on: device)
            // The notice may arrive in the middle of a send, and ends it.
            while !phone.engine.state.pendingRecordZoneChanges.isEmpty {
                try? await phone.engine.sendChanges()
            }
            let record = try await cloud.database(of: ada).record(for: Contacts.recordID("1"))
            #expect(record["name"] == "Ann")
            #expect(phone.story.filter { $0 == "accountChange" }.count == 1)
        }
    }
}
