import CloudKit
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient
import Foundation
import GRDB
import Support
import Synchronization
import Testing

@Suite("Life events end as they are configured, and lose nothing", .timeLimit(.minutes(10)))
struct LifeEventTests {
    /// The events of a store, in words.
    private final class Events: Sendable {
        private let words = Mutex<[String]>([])
        let stream: AsyncStream<String>
        private let continuation: AsyncStream<String>.Continuation

        init() { (stream, continuation) = AsyncStream<String>.makeStream() }

        func add(_ event: StoreEvent) {
            let word = "\(event)"
            words.withLock { $0.append(word) }
            continuation.yield(word)
        }

        func contains(_ word: String) -> Bool { words.withLock { $0.contains(word) } }

        func contains(where condition: (String) -> Bool) -> Bool { count(where: condition) > 0 }

        func count(where condition: (String) -> Bool) -> Int {
            words.withLock { $0.count(where: condition) }
        }

        /// Waits until an event occurs.
        func wait(for word: String) async {
            for await found in stream where found == word { return }
        }
    }

    private static func titles(_ device: Device) async throws -> String? {
        try await device.value(
            "SELECT group_concat(title) FROM (SELECT title FROM note ORDER BY id)"
        )
    }

    @Test("A purged zone: rows stay and wait, and go up again when the app says so")
    func purged() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let events = Events()
            var configuration = Device.configuration
            configuration.onEvent = { events.add($0) }
            let phone = try await Device(cloud, user, configuration: configuration)
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A'), ('b', 'B')")
            try await phone.store.sync()
            try await phone.run("UPDATE note SET title = 'unsent' WHERE id = 'b'")
            _ = try await phone.cloud.modifyRecordZones(saving: [], deleting: [Device.zoneID])
            try await phone.store.loseZone(.purged)
            await #expect(throws: CloudStoreError.self) { try await phone.store.sync() }
            #expect(try await phone.store.status.obstacle == .purged)
            #expect(try await Self.titles(phone) == "A,unsent")
            #expect(events.contains("\(StoreEvent.zoneDeleted(.purged))"))
            #expect(
                try await phone.cloud.allRecordZones().allSatisfy { $0.zoneID != Device.zoneID }
            )
            try await phone.store.uploadEverything()
            try await phone.store.settled()
            let laptop = try await Device(cloud, user)
            try await laptop.store.sync()
            #expect(try await Self.titles(laptop) == "A,unsent")
        }
    }

    @Test("Encrypted data that is reset is sent again, with the edits that waited")
    func encryptedDataReset() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let tables: [SyncedTable] = [
                .table("folder"),
                .table("note", encrypted: ["body"], localOnly: ["draft"], forms: ["tags": .list]),
            ]
            let phone = try await Device(cloud, user, tables: tables)
            try await phone.run("INSERT INTO note (id, title, body) VALUES ('a', 'A', 'secret')")
            try await phone.store.sync()
            try await phone.run("UPDATE note SET title = 'unsent'")
            _ = try await phone.cloud.modifyRecordZones(saving: [], deleting: [Device.zoneID])
            try await phone.store.loseZone(.encryptedDataReset)
            try await phone.store.sync()
            try await phone.store.settled()
            let laptop = try await Device(cloud, user, tables: tables)
            try await laptop.store.sync()
            #expect(try await laptop.rows() == phone.rows())
            #expect(try await laptop.value("SELECT title || body FROM note") == "unsentsecret")
        }
    }

    @Test("Full storage is reported, rows wait with the reason, and go up when there is room")
    func quota() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let events = Events()
            var configuration = Device.configuration
            configuration.onEvent = { events.add($0) }
            let phone = try await Device(cloud, user, configuration: configuration)
            try await phone.store.sync()
            cloud.setFaults(
                FaultPlan(rules: [
                    FaultRule(.itemError(.quotaExceeded), operation: "records/modify")
                ])
            )
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A'), ('b', 'B')")
            #expect(try await phone.store.sync().isOverQuota)
            let status = try await phone.store.status
            #expect(status.obstacle == .quotaExceeded)
            #expect(status.waitingToSend == 2)
            #expect(status.quarantined.isEmpty)
            #expect(events.contains("\(StoreEvent.quotaExceeded)"))
            await #expect(throws: (any Error).self) { try await phone.store.settled() }
            cloud.setFaults(nil)
            let summary = try await phone.store.sync()
            #expect(!summary.isOverQuota && summary.saved == 2)
            try await phone.store.settled()
            #expect(try await phone.store.status.obstacle == nil)
        }
    }

    @Test(
        "A damaged sync state is reported, everything is fetched, and unsent rows go up",
        arguments: ["7B7D", "00", "7B2276657273696F6E223A39397D"]
    )
    func damagedState(_ state: String) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user)
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A')")
            try await phone.store.sync()
            try await phone.run(
                """
                UPDATE grdb_cloudkit_control SET engine = X'\(state)';
                INSERT INTO note (id, title) VALUES ('b', 'unsent');
                """
            )
            await phone.store.stop()
            let events = Events()
            var configuration = Device.configuration
            configuration.onEvent = { events.add($0) }
            let again = try await Device(
                cloud,
                user,
                database: phone.database,
                configuration: configuration
            )
            try await again.store.sync()
            #expect(events.contains { $0.hasPrefix("refetchStarted(reason: \"") })
            let laptop = try await Device(cloud, user, configuration: configuration)
            try await laptop.store.sync()
            #expect(try await Self.titles(laptop) == "A,unsent")
            #expect(events.count { $0.hasPrefix("refetchStarted") } == 1)
        }
    }

    /// Creates a laptop whose tokens have expired after changes by other devices that no later
    /// response reports.
    private func afterExpiry(
        _ change: String,
        laptopEdit: String = "",
        _ check: @Sendable (_ laptop: Device, _ phone: Device) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let holder = TransportHolder()
            let phone = try await Device(cloud, user)
            let laptop = try await Device(cloud, user, transport: { holder.wrap($0) })
            try await phone.run(
                "INSERT INTO note (id, title) VALUES ('a', 'A'), ('b', 'B'), ('c', 'C')"
            )
            try await settle(phone, laptop)
            try await phone.run(change)
            try await phone.store.sync()
            try await laptop.run(laptopEdit)
            try await cloud.expireChangeTokens()
            // Apple's service reports no deletions in a fetch from the beginning.
            holder.transport.script.withLock { $0.rewrite = Self.withoutTombstones }
            try await settle(laptop, phone)
            #expect(try await laptop.rows() == phone.rows())
            try await check(laptop, phone)
        }
    }

    @Sendable
    private static func withoutTombstones(_ path: String, _ response: Data) -> Data {
        guard path.hasSuffix("changes/zone"),
            var object = try? JSONSerialization.jsonObject(with: response) as? [String: Any],
            var zones = object["zones"] as? [[String: Any]]
        else { return response }
        for index in zones.indices {
            guard let records = zones[index]["records"] as? [[String: Any]] else { continue }
            zones[index]["records"] = records.filter { $0["deleted"] as? Bool != true }
        }
        object["zones"] = zones
        return (try? JSONSerialization.data(withJSONObject: object)) ?? response
    }

    @Test("An expired token: rows that were deleted meanwhile go, and an unsent edit stays")
    func expired() async throws {
        try await afterExpiry(
            "DELETE FROM note WHERE id <> 'c'",
            laptopEdit: "UPDATE note SET body = 'unsent' WHERE id = 'b'"
        ) { (laptop, _) async throws in
            #expect(try await laptop.value("SELECT group_concat(id) FROM note") == "b,c")
        }
    }

    @Test("An expired token of a zone that was emptied meanwhile: the rows go")
    func expiredAndEmptied() async throws {
        try await afterExpiry("DELETE FROM note") { (laptop, _) async throws in
            #expect(try await laptop.rows().isEmpty)
        }
    }

    @Test("An expired token of a zone where every record is another meanwhile: the old rows go")
    func expiredAndRefilled() async throws {
        try await afterExpiry(
            """
            DELETE FROM note WHERE id <> 'c'; UPDATE note SET title = 'other';
            INSERT INTO note (id, title) VALUES ('d', 'D');
            """
        ) { (laptop, _) async throws in
            #expect(try await Self.titles(laptop) == "other,D")
        }
    }

    @Test("Signing out, in, and as another user: nothing is lost, and nobody gets another's rows")
    func accounts() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let (ada, bob) = (try await cloud.addUser("Ada"), try await cloud.addUser("Bob"))
            let events = Events()
            var configuration = Device.configuration
            configuration.onEvent = { events.add($0) }
            let phone = try await Device(cloud, ada, configuration: configuration)
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A')")
            try await phone.store.sync()

            try cloud.signOut(of: phone.container)
            await events.wait(for: "\(StoreEvent.signedOut)")
            try await phone.run("UPDATE note SET title = 'unsent'")
            await #expect(throws: CKError.self) { try await phone.store.sync() }
            #expect(try await phone.store.status.obstacle == .noAccount)
            #expect(try await phone.store.status.waitingToSend == 1)

            try await cloud.signIn(bob, on: phone.container)
            await events.wait(for: "\(StoreEvent.switchedAccounts)")
            await #expect(throws: CloudStoreError.self) { try await phone.store.sync() }
            #expect(try await phone.store.status.obstacle == .accountSwitched)
            #expect(
                try await phone.cloud.allRecordZones().allSatisfy { $0.zoneID != Device.zoneID }
            )

            try await cloud.signIn(ada, on: phone.container)
            await events.wait(for: "\(StoreEvent.signedIn)")
            try await phone.store.settled()
            let record = try await phone.cloud.record(for: Device.id("note:a"))
            #expect(record["title"] as String? == "unsent")
        }
    }

    @Test("A damaged file is an error that says what to do")
    func damagedFile() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let container = try await cloud.device(of: try await cloud.addUser())
            let file = FileManager.default.temporaryDirectory
                .appending(path: "damaged-\(UUID().uuidString).sqlite")
            defer { try? FileManager.default.removeItem(at: file) }
            func open(_ database: DatabaseQueue) throws -> CloudStore {
                try CloudStore(
                    database: database,
                    container: container,
                    tables: Device.notes,
                    configuration: Device.configuration
                )
            }
            let database = try DatabaseQueue(path: file.path)
            try await database.write { try $0.execute(sql: Device.schema) }
            _ = try open(database)
            let page = try await database.read { database in
                try UInt64.fetchOne(
                    database,
                    sql: "SELECT rootpage FROM sqlite_master WHERE name = 'grdb_cloudkit_control'"
                )
            }
            let size = try await database.read { database in
                try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
            }
            try database.close()
            // The schema stays; the table is overwritten.
            let handle = try FileHandle(forUpdating: file)
            try handle.seek(toOffset: (try #require(page) - 1) * UInt64(size))
            try handle.write(contentsOf: Data(repeating: 0xAB, count: size))
            try handle.close()
            let error = try #require(throws: CloudStoreError.self) {
                _ = try open(DatabaseQueue(path: file.path))
            }
            #expect(error.code == .unreadableFile)
            #expect(error.message.contains("damaged"))
        }
    }
}
