import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Support
import Synchronization
import Testing

@Suite("Engines that the service pushes to", .timeLimit(.minutes(10)))
struct PushTests {
    @Test(
        "Edits of two devices reach the other by the service's own pushes",
        arguments: CloudFixture.allCases
    )
    func devices(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = Contacts(try await cloud.database(of: ada), isAutomatic: true)
            let laptop = Contacts(try await cloud.database(of: ada), isAutomatic: true)
            for round in 1...4 {
                let (from, to) = round.isMultiple(of: 2) ? (laptop, phone) : (phone, laptop)
                from.save(["1": "Ann \(round)", "n\(round)": "Ben"])
                for await _ in to.names where to.list == from.list { break }
                #expect(to.list["1"] == "Ann \(round)")
            }
            phone.delete(["1"])
            for await _ in laptop.names where laptop.list["1"] == nil { break }
            for device in [phone, laptop] { device.dropEngine() }
        }
    }

    @Test(
        "Two engines on one database of one container are notified of what the other sends",
        arguments: CloudFixture.allCases
    )
    func oneContainer(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let apps = [
                Contacts(database, isAutomatic: true), Contacts(database, isAutomatic: true),
            ]
            // The first round may be fetched as the engines start; the others arrive only after
            // pushes.
            for round in 1...4 {
                let (from, to) = round.isMultiple(of: 2) ? (apps[1], apps[0]) : (apps[0], apps[1])
                from.save(["1": "Ann \(round)"])
                for await _ in to.names where to.list == from.list { break }
                #expect(to.list["1"] == "Ann \(round)")
            }
            for app in apps { app.dropEngine() }
        }
    }

    /// Ada shares a list; Bob accepts.
    private func share(_ ada: CKContainer, with bob: CKContainer) async throws -> CKRecord {
        let database = ada.privateCloudDatabase
        let zone = CKRecordZone(zoneName: "Lists")
        try await database.save(zone)
        let root = CKRecord(
            recordType: "List",
            recordID: CKRecord.ID(recordName: "list", zoneID: zone.zoneID)
        )
        root["name"] = "Shopping"
        let share = CKShare(rootRecord: root)
        share.publicPermission = .readWrite
        let (results, _) = try await database.modifyRecords(saving: [root, share], deleting: [])
        for record in [root, share] { _ = try results[record.recordID]?.get() }
        let url = try #require(share.url)
        try await bob.accept(try await bob.shareMetadata(for: url))
        return root
    }

    @Test(
        "A participant's engine receives what the owner changes, and the owner's what it changes",
        arguments: CloudFixture.allCases
    )
    func shared(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let list = try await share(ada, with: bob)
            let inbox = Inbox(bob.sharedCloudDatabase)
            await inbox.wait { $0.names["list"] == "Shopping" }
            for name in ["Groceries", "Party"] {
                list["name"] = name
                try await ada.privateCloudDatabase.save(list)
                await inbox.wait { $0.names["list"] == name }
            }

            let owners = Inbox(ada.privateCloudDatabase)
            await owners.wait { $0.names["list"] == "Party" }
            let zoneID = try #require(try await bob.sharedCloudDatabase.allRecordZones().first)
            let theirs = try await bob.sharedCloudDatabase.record(
                for: CKRecord.ID(recordName: "list", zoneID: zoneID.zoneID)
            )
            theirs["name"] = "Bob's party"
            try await bob.sharedCloudDatabase.save(theirs)
            await owners.wait { $0.names["list"] == "Bob's party" }

            // The owner stops sharing: the zone is removed from the participant's database.
            if let share = list.share {
                try await ada.privateCloudDatabase.deleteRecord(withID: share.recordID)
            }
            await inbox.wait { !$0.zones.contains("Lists") }
            for app in [inbox, owners] { app.stop() }
        }
    }

    @Test(
        "An engine fetches by itself what its own process accepts, and what goes when it leaves",
        arguments: CloudFixture.allCases
    )
    func ownSharing(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let counter = CountingTransport.Count()
            let bob = try await cloud.device(of: try await cloud.addUser("Bob")) {
                CountingTransport($0, counter)
            }
            let inbox = Inbox(bob.sharedCloudDatabase)
            await counter.waitUntilListening()
            await inbox.wait { $0.fetches >= 2 }
            _ = try await share(ada, with: bob)
            await inbox.wait { $0.names["list"] == "Shopping" }

            let zone = try #require(try await bob.sharedCloudDatabase.allRecordZones().first)
            let root = try await bob.sharedCloudDatabase.record(
                for: CKRecord.ID(recordName: "list", zoneID: zone.zoneID)
            )
            let share = try #require(root.share)
            try await bob.sharedCloudDatabase.deleteRecord(withID: share.recordID)
            await inbox.wait { !$0.zones.contains("Lists") }
            inbox.stop()
        }
    }

    @Test(
        "Engines of one process each receive their own pushes",
        arguments: CloudFixture.allCases
    )
    func together(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let bobsUser = try await cloud.addUser("Bob")
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: bobsUser)
            let list = try await share(ada, with: bob)
            // Two databases, and a second engine on one of them.
            let own = [Inbox(bob.privateCloudDatabase), Inbox(bob.privateCloudDatabase)]
            let shared = Inbox(bob.sharedCloudDatabase)
            await shared.wait { $0.names["list"] == "Shopping" }
            let laptop = try await cloud.database(of: bobsUser)
            let zone = CKRecordZone(zoneName: "Own")
            try await laptop.save(zone)
            for name in ["one", "two", "three"] {
                let record = CKRecord(
                    recordType: "Item",
                    recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID)
                )
                record["name"] = name
                try await laptop.save(record)
                list["name"] = name
                try await ada.privateCloudDatabase.save(list)
                for inbox in own { await inbox.wait { $0.names[name] == name } }
                await shared.wait { $0.names["list"] == name }
            }
            for inbox in own { #expect(inbox.names["list"] == nil) }
            #expect(shared.names["one"] == nil)
            for app in own + [shared] { app.stop() }
        }
    }

    @Test("Pushes come through lost connections", arguments: CloudFixture.allCases)
    func interruptions(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let container = try await cloud.device(of: ada) {
                ScriptedTransport.failing(
                    [("tokens/create", .lost), ("aps", .cut), ("aps", .lost)],
                    over: $0
                )
            }
            let laptop = Contacts(container.privateCloudDatabase, isAutomatic: true)
            let phone = Contacts(try await cloud.database(of: ada), isAutomatic: true)
            for round in 1...3 {
                phone.save(["1": "Ann \(round)"])
                for await _ in laptop.names where laptop.list["1"] == "Ann \(round)" { break }
            }
            for device in [phone, laptop] { device.dropEngine() }
        }
    }

    @Test("An engine with nothing to do asks for nothing and sets no alarm")
    func silence() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser()
            let counter = CountingTransport.Count()
            let container = try await cloud.device(of: ada) { CountingTransport($0, counter) }
            let alarms = Mutex(0)
            var environment = SyncEngineEnvironment(clock: ContinuousClock(), log: { _ in })
            let sleep = environment.sleep
            environment.sleep = { time in
                alarms.withLock { $0 += 1 }
                defer { alarms.withLock { $0 -= 1 } }
                try await sleep(time)
            }
            let inbox = Inbox(container.privateCloudDatabase, environment: environment)
            // The first fetch, and the one after the courier URL was requested.
            await counter.waitUntilListening()
            await inbox.wait { $0.fetches >= 2 }
            let phone = Contacts(try await cloud.database(of: ada))
            for round in 1...3 {
                phone.save(["1": "Ann \(round)"])
                try await phone.engine.sendChanges()
                await inbox.wait { $0.names["1"] == "Ann \(round)" }
            }
            // The engine comes to rest: one that keeps sending requests never leaves this loop.
            var before: [String] = []
            while before != counter.paths || alarms.withLock({ $0 }) > 0 {
                before = counter.paths
                for _ in 0..<1000 { await Task.yield() }
            }
            #expect(counter.waiting == 1)
            // One request for the signed-in user, two for the subscription, one for the courier URL;
            // then some for each push, of which there were four at most.
            #expect(before.count <= 4 + 2 * (2 + 4), "\(before)")
            inbox.stop()
        }
    }
}
