#if PostgreSQL
import CloudKitServerCore
import CloudKitWire
import CloudKitServerPostgres
import Dispatch
import Foundation
import PostgresFixtures
import Synchronization
import Testing

/// A flag that is set once a write was acknowledged.
private final class Acknowledged: Sendable {
    let value = Mutex(false)
}

@Suite(
    "Nodes on one PostgreSQL database",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct NodesTests {
    /// Increments a setting.
    private static func increment(_ writer: any StorageWriter) throws {
        let count = try writer.setting("count").flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        try writer.setSetting("count", Data("\((count ?? 0) + 1)".utf8))
    }

    private static func count(_ storage: PostgresStorage) async throws -> Int? {
        try await storage.read { try $0.setting("count") }
            .flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    /// Adds two users with a zone each; returns their databases and zones.
    private static func addUsers(
        _ storage: PostgresStorage
    ) async throws -> [(key: DatabaseKey, zone: RowID<StoredZone>)] {
        try await storage.write { writer in
            let environment = try writer.addEnvironment(container: "c", .development).id
            return try (1...2 as ClosedRange<Int64>).map { number in
                let owner = RowID<StoredUser>(rawValue: number)
                let database = try writer.addDatabase(environment, owner: owner, incarnation: 1)
                let zone = try writer.addZone(
                    StoredZone(
                        id: RowID(rawValue: 0),
                        database: database.id,
                        name: "Notes",
                        incarnation: 1,
                        headSequence: 0,
                        changeSequence: 1,
                        isDeleted: false
                    )
                )
                return (DatabaseKey(environment: environment, owner: owner), zone.id)
            }
        }
    }

    @Test("What one node writes the other reads, and no increment of either is lost")
    func twoNodes() async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        let nodes = try await [PostgresServer.open(address), PostgresServer.open(address)]
        let users = try await Self.addUsers(nodes[0])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                let node = nodes[number % 2]
                let (key, zone) = users[number / 2 % 2]
                group.addTask {
                    try await node.write(.database(key), needing: { StorageNeeds(in: key) }) {
                        var row = try #require(try $0.zone(zone))
                        row.headSequence += 1
                        try $0.updateZone(row)
                    }
                }
                group.addTask { try await node.write(Self.increment) }
            }
            try await group.waitForAll()
        }
        for node in nodes {
            #expect(try await Self.count(node) == 40)
            for user in users {
                #expect(try await node.read { try $0.zone(user.zone) }?.headSequence == 20)
            }
        }
    }

    @Test("A write of one user's database waits for none of another's")
    func sideBySide() async throws {
        let storage = try await PostgresServer.open()
        let users = try await Self.addUsers(storage)
        let (isHeld, opening) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let held = Task {
            let key = users[0].key
            try await storage.write(.database(key), needing: { StorageNeeds(in: key) }) { writer in
                _ = try writer.zone(users[0].zone)
                isHeld.signal()
                _ = opening.wait(timeout: .now() + 30)
            }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                isHeld.wait()
                continuation.resume()
            }
        }
        let key = users[1].key
        try await storage.write(.database(key), needing: { StorageNeeds(in: key) }) { writer in
            var row = try #require(try writer.zone(users[1].zone))
            row.headSequence = 7
            try writer.updateZone(row)
        }
        #expect(try await storage.read { try $0.zone(users[1].zone) }?.headSequence == 7)
        opening.signal()
        try await held.value
    }

    @Test("Requests go on where connections are ended, and each write is made once")
    func endedConnections() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let storage = try await PostgresServer.open(address)
        let killer = Task {
            while !Task.isCancelled {
                try server.run(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """,
                    in: address
                )
                await Task.yield()
            }
        }
        var number = 0
        // Until some of them were in the middle of a request.
        while number < 40 || storage.counts.repetitions + storage.counts.resolutions == 0 {
            try await storage.write(Self.increment)
            number += 1
            #expect(try await Self.count(storage) == number)
        }
        killer.cancel()
        _ = try? await killer.value  // Whatever it ended with, the writes are what counts.
    }

    @Test("A commit that was kept while its connection was lost is not made again")
    func unknownOutcome() async throws {
        // Where commits wait for a standby that is not there, nobody else can work.
        let server = try PostgresServer()
        let address = try server.newDatabase()
        let storage = try await PostgresServer.open(address)
        try await storage.write(Self.increment)
        func wait(for names: String) throws {
            try server.run("ALTER SYSTEM SET synchronous_standby_names = '\(names)'", in: address)
            try server.run("SELECT pg_reload_conf()", in: address)
            while try server.run("SHOW synchronous_standby_names", in: address) != names {}
        }
        try wait(for: "nobody")
        let acknowledged = Acknowledged()
        let write = Task {
            try await storage.write(Self.increment)
            acknowledged.value.withLock { $0 = true }
        }
        let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        func waitForWaiting() async throws {
            while try server.run("SELECT count(*) \(waiting)", in: address) == "0" {
                try #require(!acknowledged.value.withLock { $0 })
                await Task.yield()
            }
        }
        try await waitForWaiting()
        try server.run("SELECT pg_terminate_backend(pid) \(waiting)", in: address)
        // What was kept without the standby is not acknowledged before the standby has it.
        try await waitForWaiting()
        try wait(for: "")
        try await write.value
        #expect(try await Self.count(storage) == 2)
        #expect(storage.counts.resolutions == 1)
    }

    @Test("A commit that was lost with its connection is made again")
    func lostCommit() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let storage = try await PostgresServer.open(address)
        try server.run(Self.killsFirstCommit, in: address)
        try await storage.write(Self.increment)
        #expect(try await Self.count(storage) == 1)
        #expect(storage.counts.resolutions == 1)
    }

    /// The SQL that ends the connection of the first commit from now on, before it is kept.
    private static let killsFirstCommit = """
        CREATE SEQUENCE kills;
        CREATE FUNCTION kill() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            IF nextval('kills') = 1 THEN
                PERFORM pg_terminate_backend(pg_backend_pid());
                PERFORM pg_sleep(60);
            END IF;
            RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER kill AFTER INSERT ON commit_marker
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION kill()
        """

    @Test("A commit whose outcome cannot be found out is neither repeated nor called refused")
    func unknownCommit() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let (role, limited) = try server.newRole("unknown", in: address)
        let storage = try await PostgresStorage.open(
            PostgresAddress(limited),
            connections: 1,
            patience: .seconds(1)
        )
        try server.run(Self.killsFirstCommit, in: address)
        // Whoever is connected stays so.
        try server.run("ALTER ROLE \(role) CONNECTION LIMIT 0", in: address)
        let error = await #expect(throws: StorageError.self) {
            try await storage.write(Self.increment)
        }
        #expect(error?.code == .unresolved, "\(String(describing: error))")
        try server.run("ALTER ROLE \(role) CONNECTION LIMIT -1", in: address)
        #expect(try await Self.count(storage) == nil)
        try await storage.write(Self.increment)
        #expect(try await Self.count(storage) == 1)
    }

    @Test("Tables of a newer version are refused, and left as they are")
    func newerTables() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        try await PostgresServer.open(address).close()
        try server.run("INSERT INTO migration VALUES (99)", in: address)
        let error = await #expect(throws: StorageError.self) {
            try await PostgresServer.open(address)
        }
        #expect(error?.message.contains("newer version") == true)
        #expect(try server.run("SELECT count(*) FROM setting", in: address) == "0")
    }

    @Test("Another number of partitions than the tables have is refused", arguments: [0, 4])
    func otherPartitions(partitions: Int) async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        try await PostgresServer.open(address, partitions: partitions).close()
        try await PostgresServer.open(address, partitions: partitions).close()
        try await PostgresServer.open(address).close()
        let error = await #expect(throws: StorageError.self) {
            try await PostgresServer.open(address, partitions: 16)
        }
        let words = partitions == 0 ? "with no partitions, not 16" : "with 4 partitions, not 16"
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test("Nodes that open an empty database at once create its tables once")
    func opening() async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        let nodes = try await withThrowingTaskGroup(of: PostgresStorage.self) { group in
            for _ in 0..<4 { group.addTask { try await PostgresServer.open(address) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for node in nodes { try await node.write(Self.increment) }
        #expect(try await Self.count(nodes[0]) == 4)
    }
}
#endif
