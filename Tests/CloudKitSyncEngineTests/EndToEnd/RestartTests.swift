import CloudKit
import CloudKitExtras
import CloudKitTesting
import Support
import Synchronization
import Testing

/// Each test runs its story once for each of its events, with the process ending there and another
/// one starting from the app's stored data.
@Suite("A process may end at any event, and another one goes on")
struct RestartTests {
    private func device(
        of user: TestCloud.User,
        _ cloud: Cloud
    ) async throws -> (CKContainer, Cut) {
        let cut = Cut()
        return (try await cloud.device(of: user, transport: cut.over), cut)
    }

    /// Sends and fetches until nothing is left to do.
    private func settle(_ app: Contacts) async throws {
        for _ in 0..<4 {
            _ = try? await app.engine.sendChanges()
            _ = try? await app.engine.fetchChanges()
        }
        try await app.engine.sendChanges()
        try await app.engine.fetchChanges()
    }

    /// Runs a story with the process ending at the first event, at the second, and so on, until it
    /// reaches its own end.
    private func everyBoundary(
        atLeast count: Int,
        _ story: (_ boundary: Int) async throws -> Bool
    ) async throws {
        var boundary = 0
        while try await story(boundary) { boundary += 1 }
        #expect(boundary >= count)
    }

    // MARK: Sending

    @Test(
        "While it sends: nothing is lost, and nothing is done twice with effect",
        arguments: EndingApp.Death.allCases
    )
    func sending(_ death: EndingApp.Death) async throws {
        try await everyBoundary(atLeast: 8) { try await sendingStory(death, endsAt: $0) }
    }

    private func sendingStory(
        _ death: EndingApp.Death,
        endsAt boundary: Int
    ) async throws -> Bool {
        let hasEnded = Mutex(false)
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser()
            let laptop = Contacts(try await cloud.database(of: ada))
            laptop.save(["1": "Ann", "2": "Ben", "9": "Zoe"])
            try await laptop.engine.sendChanges()
            let first = Contacts(try await cloud.database(of: ada))
            try await first.engine.fetchChanges()
            laptop.save(["9": "Zed"])
            try await laptop.engine.sendChanges()

            let (container, cut) = try await device(of: ada, cloud)
            let phone = EndingApp(
                container,
                cut,
                contents: first.kept,
                endsAt: boundary,
                death,
                isDue: false
            )
            phone.app.save(["1": "Anna", "3": "Cleo", "9": "Zoey"])
            phone.app.delete(["2"])
            // An event before the user was done does not end the process.
            phone.testament.fallDue()
            // The first call finds the conflict, the second sends the result.
            _ = try? await phone.app.engine.sendChanges()
            _ = try? await phone.app.engine.sendChanges()
            hasEnded.withLock { $0 = phone.testament.kept != nil }

            // Resent changes must not undo another device's changes made in the meantime.
            try await laptop.engine.fetchChanges()
            laptop.save(["1": "Anne"])
            try await laptop.engine.sendChanges()

            let again = Contacts(try await cloud.database(of: ada), contents: phone.kept)
            again.resend()
            try await settle(again)
            try await laptop.engine.fetchChanges()
            #expect(again.list == ["1": "Anne", "3": "Cleo", "9": "Zed"], "boundary \(boundary)")
            #expect(laptop.list == again.list, "boundary \(boundary)")
            #expect(again.engine.state.pendingRecordZoneChanges.isEmpty)
        }
        return hasEnded.withLock { $0 }
    }

    // MARK: Fetching

    @Test(
        "While it fetches: all that changed is there in the end",
        arguments: EndingApp.Death.allCases
    )
    func fetching(_ death: EndingApp.Death) async throws {
        try await everyBoundary(atLeast: 8) { try await fetchingStory(death, endsAt: $0) }
    }

    private func fetchingStory(
        _ death: EndingApp.Death,
        endsAt boundary: Int
    ) async throws -> Bool {
        let hasEnded = Mutex(false)
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser()
            let database = try await cloud.database(of: ada)
            let laptop = Contacts(database)
            laptop.save(["1": "Ann", "2": "Ben"])
            try await laptop.engine.sendChanges()
            try await database.save(CKRecordZone(zoneName: "Old"))
            let first = Contacts(try await cloud.database(of: ada))
            try await first.engine.fetchChanges()

            // More than one page, a deletion, and a deleted zone.
            let names = (10..<330).map { ("\($0)", "n\($0)") }
            laptop.save(Dictionary(uniqueKeysWithValues: names))
            laptop.save(["1": "Anna"])
            laptop.delete(["2"])
            try await laptop.engine.sendChanges()
            _ = try await database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "Old"))

            let (container, cut) = try await device(of: ada, cloud)
            let phone = EndingApp(
                container,
                cut,
                contents: first.kept,
                endsAt: boundary,
                death
            )
            _ = try? await phone.app.engine.fetchChanges()
            hasEnded.withLock { $0 = phone.testament.kept != nil }

            let again = Contacts(try await cloud.database(of: ada), contents: phone.kept)
            try await settle(again)
            #expect(again.list == laptop.list, "boundary \(boundary)")
            #expect(again.list.count == 321)
            #expect(again.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
        }
        return hasEnded.withLock { $0 }
    }

    // MARK: Accounts

    @Test(
        "While the account changes: nobody gets what is another's, and nothing of his is lost",
        .timeLimit(.minutes(10)),
        arguments: EndingApp.Death.allCases
    )
    func account(_ death: EndingApp.Death) async throws {
        try await everyBoundary(atLeast: 4) { try await accountStory(death, endsAt: $0) }
    }

    private func accountStory(
        _ death: EndingApp.Death,
        endsAt boundary: Int
    ) async throws -> Bool {
        let hasEnded = Mutex(false)
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let bob = try await cloud.addUser("Bob")
            let bobs = Contacts(try await cloud.database(of: bob))
            bobs.save(["7": "Bob's friend"])
            try await bobs.engine.sendChanges()
            let adas = Contacts(try await cloud.database(of: ada))
            adas.save(["1": "Ada's friend"])
            try await adas.engine.sendChanges()

            let (container, cut) = try await device(of: ada, cloud)
            let phone = EndingApp(
                container,
                cut,
                contents: adas.kept,
                endsAt: boundary,
                death,
                handling: Self.forget
            )
            phone.app.save(["2": "A secret of Ada's"])
            for await name in phone.app.names where name == "stateUpdate" { break }
            try await cloud.signIn(bob, on: container)
            if phone.testament.kept == nil {
                for await name in phone.app.names where name == "accountChange" { break }
            }
            _ = try? await phone.app.engine.fetchChanges()
            _ = try? await phone.app.engine.sendChanges()
            hasEnded.withLock { $0 = phone.testament.kept != nil }

            let device = try await cloud.device(of: bob)
            let again = Contacts(
                device.privateCloudDatabase,
                contents: phone.kept
            ) { app, event, _ in Self.forget(app, event) }
            try await settle(again)
            #expect(again.list == ["7": "Bob's friend"], "boundary \(boundary)")
            let bobsNames = try await Self.names(in: device.privateCloudDatabase)
            #expect(bobsNames == ["7"], "boundary \(boundary)")
            let adasNames = try await Self.names(in: try await cloud.database(of: ada))
            #expect(adasNames.isSubset(of: ["1", "2"]) && adasNames.contains("1"))
        }
        return hasEnded.withLock { $0 }
    }

    /// Performs an app's reaction to an account change.
    private static func forget(_ app: Contacts, _ event: CKSyncEngine.Event) {
        guard case .accountChange(let change) = event else { return }
        switch change.changeType {
        case .switchAccounts, .signOut: app.forget()
        case .signIn: break
        }
    }

    private static func names(in database: CKDatabase) async throws -> Set<String> {
        let changes = try await database.recordZoneChanges(
            inZoneWith: Contacts.zoneID,
            since: nil
        )
        return Set(changes.modificationResultsByID.keys.map(\.recordName))
    }
}
