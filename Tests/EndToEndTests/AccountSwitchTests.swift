import CloudKit
import CloudKitExtras
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Changes of account")
struct AccountSwitchTests {
    /// Runs a closure, and waits until it has posted `.CKAccountChanged`.
    private func expectNotice(_ body: () async throws -> Void) async throws {
        let (notices, notice) = AsyncStream<Void>.makeStream()
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged,
            object: nil,
            queue: nil
        ) { _ in notice.yield() }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await body()
        for await _ in notices { break }
    }

    @Test(
        "In, out and over to another user: status, user and data follow, and a notice is posted",
        .timeLimit(.minutes(10)),
        arguments: CloudFixture.allCases
    )
    func switching(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (ada, bob) = (try await cloud.addUser("Ada"), try await cloud.addUser("Bob"))
            let device = try await cloud.device(of: nil)
            let database = device.privateCloudDatabase
            #expect(try await device.accountStatus() == .noAccount)

            try await expectNotice { try await cloud.signIn(ada, on: device) }
            #expect(try await device.accountStatus() == .available)
            #expect(try await device.userRecordID().recordName == ada.recordName)
            let note = CKRecord(recordType: "Note")
            note["title"] = "Ada's"
            try await database.save(note)

            try await expectNotice { try await cloud.signIn(bob, on: device) }
            #expect(try await device.userRecordID().recordName == bob.recordName)
            await expectCKError(.unknownItem) { try await database.record(for: note.recordID) }

            try await expectNotice { try cloud.signOut(of: device) }
            #expect(try await device.accountStatus() == .noAccount)
            await expectCKError(.notAuthenticated) {
                try await database.record(for: note.recordID)
            }

            try await expectNotice { try await cloud.signIn(ada, on: device) }
            #expect(try await database.record(for: note.recordID)["title"] == "Ada's")
        }
    }

    @Test(
        "The token of a sign-in page signs in with CloudKitExtras alone",
        arguments: CloudFixture.allCases
    )
    func extras(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let token = try #require(try await cloud.client(of: ada).credentials.webAuthToken)
            let device = try await cloud.device(of: nil)
            try device.signIn(webAuthToken: token)
            #expect(try await device.userRecordID().recordName == ada.recordName)
            try device.signOut()
            #expect(try await device.accountStatus() == .noAccount)
        }
    }

    @Test("A container that reaches no service cannot be signed in to, and says why")
    func unconfigured() async throws {
        let device = CKContainer(identifier: "iCloud.none")
        await expectCKError(.badContainer) { try device.signIn(webAuthToken: "token") }
        await expectCKError(.badContainer) { try device.signOut() }
    }
}
