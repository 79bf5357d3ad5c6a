import CloudKit
import CloudKitExtras
import CloudKitTesting
import Foundation
import Support
import Synchronization
import Testing

@Suite("The life of an engine")
struct EngineLifeTests {
    @Test("Awaiting the engine inside a handler is an error that says so; a task may")
    func insideHandler() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let errors = Mutex<[CKError]>([])
            let (done, finish) = AsyncStream<Bool>.makeStream()
            let phone = Contacts(database) { _, event, engine in
                guard case .accountChange = event else { return }
                do {
                    try await engine.fetchChanges()
                } catch {
                    errors.withLock { $0 += [error as? CKError].compactMap { $0 } }
                }
                await engine.cancelOperations()
                Task {
                    do {
                        try await engine.fetchChanges()
                        finish.yield(true)
                    } catch {
                        finish.yield(false)
                    }
                }
            }
            // The handler cancels its caller.
            _ = try? await phone.engine.fetchChanges()
            var iterator = done.makeAsyncIterator()
            #expect(await iterator.next() == true)
            let error = try #require(errors.withLock { $0 }.first)
            #expect(error.code == .invalidArguments)
            #expect(error.localizedDescription.contains("Task"))
        }
    }

    @Test("An engine can be replaced inside its own handler, and then goes")
    func replacement() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let first = Mutex<ObjectIdentifier?>(nil)
            let phone = Contacts(database) { app, event, engine in
                guard case .accountChange = event, first.withLock({ $0 }) == nil else { return }
                first.withLock { $0 = ObjectIdentifier(engine) }
                app.startEngine()
            }
            weak let old = phone.engine
            while first.withLock({ $0 }) == nil { await Task.yield() }
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            #expect(try await database.record(for: Contacts.recordID("1"))["name"] == "Ann")
            #expect(old == nil || old === phone.engine)
        }
    }

    @Test("An engine that nothing refers to goes, and its delegate with it")
    func release() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            weak var delegate: Contacts?
            do {
                let phone = Contacts(database)
                delegate = phone
                try await phone.engine.fetchChanges()
                // The app holds its engine; the engine does not hold the app.
                phone.dropEngine()
            }
            for _ in 0..<10_000 where delegate != nil { await Task.yield() }
            #expect(delegate == nil)
        }
    }

    @Test(
        "Changes travel by themselves: an edit is sent, a push leads to a fetch",
        .timeLimit(.minutes(10)),
        arguments: CloudFixture.allCases
    )
    func automatic(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let switchboard = PushingService.Switchboard()
            let databases = [try await cloud.database(of: ada), try await cloud.database(of: ada)]
            let devices = databases.map {
                Contacts($0, isAutomatic: true, service: PushingService($0, switchboard))
            }
            devices[0].save(["1": "Ann"])
            for await name in devices[1].names where name == "fetchedRecordZoneChanges" { break }
            #expect(devices[1].list == ["1": "Ann"])
            devices[1].save(["1": "Anna", "2": "Ben"])
            for await _ in devices[0].names
            where devices[0].list == ["1": "Anna", "2": "Ben"] { break }
            for device in devices { device.dropEngine() }
        }
    }

    @Test("Without a user calls fail and say so; signing in wakes the engine")
    func account() async throws {
        let cloud = try await TestCloud()
        let container = try await cloud.device(of: nil)
        let phone = Contacts(container.privateCloudDatabase)
        phone.save(["1": "Ann"])
        await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
        #expect(phone.engine.state.pendingRecordZoneChanges.count == 1)
        let client = try await cloud.client(of: try await cloud.addUser("Ada"))
        try container.connection.signIn(webAuthToken: client.credentials.webAuthToken)
        for await name in phone.names where name == "accountChange" { break }
        try await phone.engine.sendChanges()
        #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test(
        "Another user gets nothing of what was pending, and is announced",
        .timeLimit(.minutes(10))
    )
    func accountSwitch() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let bob = try await cloud.addUser("Bob")
        let container = try await cloud.device(of: ada)
        let phone = Contacts(container.privateCloudDatabase)
        try await phone.engine.sendChanges()
        phone.save(["1": "Ada's"])
        let client = try await cloud.client(of: bob)
        try container.connection.signIn(webAuthToken: client.credentials.webAuthToken)
        for await _ in phone.names
        where phone.story.filter({ $0 == "accountChange" }).count == 2 { break }
        try await phone.engine.sendChanges()
        let zones = try await container.privateCloudDatabase.allRecordZones()
        #expect(!zones.map(\.zoneID).contains(Contacts.zoneID))
        #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("An engine whose state cannot be read says why, logs it, and fetches everything")
    func damagedState() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let phone = Contacts(database)
            #expect(phone.engine.stateFailure == nil)
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            for (text, reason) in [("{}", "has no version"), (#"{"version": 99}"#, "version 99")] {
                var damaged = Contacts.Contents()
                damaged.saved = try JSONDecoder().decode(
                    CKSyncEngine.State.Serialization.self,
                    from: Data(text.utf8)
                )
                let lines = Mutex<[String]>([])
                let environment = SyncEngineEnvironment(
                    clock: ContinuousClock(),
                    log: { line in lines.withLock { $0.append(line) } }
                )
                let again = Contacts(
                    database,
                    contents: damaged,
                    service: DatabaseSyncService(database, environment: environment),
                    environment: environment
                )
                let failure = try #require(again.engine.stateFailure)
                #expect(failure.contains(reason), "\(failure)")
                #expect(lines.withLock { $0.first?.hasPrefix(failure) } == true)
                try await again.engine.fetchChanges()
                #expect(again.list == ["1": "Ann"])
            }
        }
    }

    @Test("The public database is refused with a reason")
    func publicDatabase() async throws {
        let cloud = try await TestCloud()
        let container = try await cloud.device(of: try await cloud.addUser("Ada"))
        let phone = Contacts(container.publicCloudDatabase)
        let error = try await #require(throws: CKError.self) {
            try await phone.engine.fetchChanges()
        }
        #expect(error.code == .badDatabase)
    }

    @Test("A task that waits for a call can be cancelled")
    func cancellation() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let phone = Contacts(database)
            let task = Task { try await phone.engine.fetchChanges() }
            task.cancel()
            _ = await task.result
            try await phone.engine.fetchChanges()
        }
    }

    // A cancellation holds the lock of its task while it tells the engine, and the engine needs that lock to resume
    // the task.
    @Test("Tasks that wait for calls can be cancelled at every moment", .timeLimit(.minutes(5)))
    func cancellations() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let phone = Contacts(database)
            try await phone.engine.fetchChanges()
            await withTaskGroup { group in
                for offset in 0..<4 {
                    group.addTask {
                        for round in 0..<8000 {
                            let task = Task { try? await phone.engine.fetchChanges() }
                            for _ in 0..<(round * 7 + offset) % 300 { await Task.yield() }
                            task.cancel()
                            await task.value
                        }
                    }
                }
            }
            try await phone.engine.fetchChanges()
        }
    }
}
