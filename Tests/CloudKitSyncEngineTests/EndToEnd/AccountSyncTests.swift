import CloudKit
import CloudKitExtras
import CloudKitTesting
import Support
import Testing

@Suite("Engines and accounts", .timeLimit(.minutes(10)))
struct AccountSyncTests {
    /// Waits until an app was notified of a number of account changes.
    private func wait(for app: Contacts, accountChanges count: Int) async {
        func isThere() -> Bool { app.story.filter { $0 == "accountChange" }.count >= count }
        guard !isThere() else { return }
        for await _ in app.names where isThere() { break }
    }

    /// Returns an app that forgets an account's data when the account changes.
    private func app(_ database: CKDatabase) -> Contacts {
        Contacts(database) { app, event, _ in
            guard case .accountChange(let change) = event else { return }
            switch change.changeType {
            case .signOut, .switchAccounts: app.forget()
            case .signIn: break
            }
        }
    }

    @Test(
        "What is made before anybody signs in waits for the first user",
        arguments: CloudFixture.allCases
    )
    func signIn(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let device = try await cloud.device(of: nil)
            let phone = app(device.privateCloudDatabase)
            phone.save(["1": "Ann"])
            await expectCKError(.notAuthenticated) { try await phone.engine.sendChanges() }
            #expect(phone.engine.state.pendingRecordZoneChanges.count == 1)
            #expect(!phone.story.contains("accountChange"))

            try await cloud.signIn(ada, on: device)
            await wait(for: phone, accountChanges: 1)
            try await phone.engine.sendChanges()
            let record = try await cloud.database(of: ada).record(for: Contacts.recordID("1"))
            #expect(record["name"] == "Ann")
        }
    }

    @Test(
        "Signing out drops what is pending and quiets the engine; signing in again wakes it",
        arguments: CloudFixture.allCases
    )
    func signOut(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let device = try await cloud.device(of: ada)
            let phone = app(device.privateCloudDatabase)
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            phone.save(["2": "Ben"])
            try cloud.signOut(of: device)
            await wait(for: phone, accountChanges: 2)
            #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(phone.list.isEmpty)
            await expectCKError(.notAuthenticated) { try await phone.engine.fetchChanges() }

            try await cloud.signIn(ada, on: device)
            await wait(for: phone, accountChanges: 3)
            try await phone.engine.fetchChanges()
            #expect(phone.list == ["1": "Ann"])
        }
    }

    @Test(
        "Another user gets his own records and nothing that was pending",
        arguments: CloudFixture.allCases
    )
    func accountSwitch(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let bob = try await cloud.addUser("Bob")
            let his = Contacts(try await cloud.database(of: bob))
            his.save(["7": "Bob's"])
            try await his.engine.sendChanges()

            let device = try await cloud.device(of: ada)
            let phone = app(device.privateCloudDatabase)
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            phone.save(["2": "Pending"])
            phone.delete(["1"])
            try await cloud.signIn(bob, on: device)
            await wait(for: phone, accountChanges: 2)
            #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
            try await phone.engine.sendChanges()
            try await phone.engine.fetchChanges()
            #expect(phone.list == ["7": "Bob's"])

            try await cloud.signIn(ada, on: device)
            await wait(for: phone, accountChanges: 3)
            try await phone.engine.fetchChanges()
            #expect(phone.list == ["1": "Ann"])
        }
    }

    @Test("A change of account of one device is nothing to the engines of another")
    func otherDevices() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let phone = app(try await cloud.database(of: ada))
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            let story = phone.story
            let other = try await cloud.device(of: ada)
            try cloud.signOut(of: other)
            try await phone.engine.fetchChanges()
            #expect(!phone.story.dropFirst(story.count).contains("accountChange"))
            #expect(phone.list == ["1": "Ann"])
        }
    }
}
