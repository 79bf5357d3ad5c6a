#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import Foundation
import PostgresFixtures
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#endif

@Suite(
    "The connections of a PostgreSQL storage",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct PoolTests {
    private static func put(_ name: String, _ storage: PostgresStorage) async throws {
        try await storage.write { try $0.setSetting(name, Data(name.utf8)) }
    }

    private static func connections(_ address: String) throws -> Int {
        let server = try PostgresServer.shared.get()
        let found = try server.run(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend'
                AND pid <> pg_backend_pid()
            """,
            in: address
        )
        return try #require(Int(found))
    }

    /// Ends all connections of others to a database, and waits until they are gone.
    private static func endConnections(_ address: String) throws {
        try PostgresServer.shared.get().run(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """,
            in: address
        )
    }

    /// Runs reads that are all open at the same time, so that each has a connection.
    private static func occupy(_ storage: PostgresStorage, _ count: Int) async throws {
        let opening = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                // Reads that wait at the same time may share a connection.
                let (beginnings, begins) = AsyncStream.makeStream(of: Void.self)
                group.addTask {
                    defer { begins.finish() }
                    try await storage.read {
                        _ = try $0.setting("a")
                        begins.yield()
                        _ = opening.wait(timeout: .now() + 60)
                    }
                }
                for await _ in beginnings { break }
            }
            for _ in 0..<count { opening.signal() }
            try await group.waitForAll()
        }
    }

    @Test("Connections that the server ended while they were idle cost no request an attempt")
    func endedWhileIdle() async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        let storage = try await PostgresServer.open(address, connections: 4)
        try await Self.occupy(storage, 4)
        #expect(storage.counts.connections == 4)
        for round in 0..<3 {
            let made = storage.counts.connects
            try Self.endConnections(address)
            try await Self.put("k\(round)", storage)
            try await Self.occupy(storage, 4)
            #expect(storage.counts.connects == made + 4)
        }
        #expect(storage.counts.repetitions == 0)
        #expect(storage.counts.resolutions == 0)
    }

    @Test("Requests wait for the connections that there are where PostgreSQL refuses more")
    func fewConnections() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let (role, limited) = try server.newRole("few", in: address)
        try server.run("ALTER ROLE \(role) CONNECTION LIMIT 2", in: address)
        let storage = try await PostgresServer.open(limited, connections: 8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { try await Self.put("k\(number)", storage) }
                group.addTask { _ = try await storage.read { try $0.setting("k\(number)") } }
            }
            try await group.waitForAll()
        }
        for number in 0..<100 {
            #expect(try await storage.read { try $0.setting("k\(number)") } != nil)
        }
        #expect((1...2).contains(storage.counts.connections))
        await storage.end()
        try server.run("ALTER ROLE \(role) CONNECTION LIMIT 0", in: address)
        let error = await #expect(throws: StorageError.self) {
            try await PostgresStorage.open(PostgresAddress(limited), patience: .milliseconds(200))
        }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("max_connections") == true, "\(String(describing: error))")
    }

    @Test("It is reported once that PostgreSQL cannot be reached, and once that it can again")
    func reach() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let (role, limited) = try server.newRole("gone", in: address)
        let notes = Mutex<[DatabaseReach]>([])
        let storage = try await PostgresStorage.open(
            PostgresAddress(limited),
            connections: 4,
            patience: .milliseconds(200),
            reach: .seconds(20)
        ) { reach in
            notes.withLock { $0.append(reach) }
        }
        try await Self.put("before", storage)
        #expect(notes.withLock { $0 } == [])
        try server.run("ALTER ROLE \(role) CONNECTION LIMIT 0", in: address)
        try Self.endConnections(address)
        for _ in 0..<3 {
            await #expect(throws: StorageError.self) { try await Self.put("during", storage) }
        }
        try server.run("ALTER ROLE \(role) CONNECTION LIMIT -1", in: address)
        try await Self.put("after", storage)
        let found = notes.withLock { $0 }
        try #require(found.count == 2, "\(found)")
        guard case .lost(let reason) = found[0], case .regained(let seconds) = found[1] else {
            Issue.record("\(found)")
            return
        }
        #expect(reason.hasPrefix("There is no connection to PostgreSQL"), "\(reason)")
        #expect(seconds >= 0)
    }

    @Test("A node without requests notices too that PostgreSQL is gone, and that it is back")
    func idleReach() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let (role, limited) = try server.newRole("idle", in: address)
        let (notes, note) = AsyncStream.makeStream(of: DatabaseReach.self)
        let storage = try await PostgresStorage.open(
            PostgresAddress(limited),
            connections: 1
        ) { reach in note.yield(reach) }
        var changes = try #require(storage.foreignChanges()).makeAsyncIterator()
        // The listener is connected.
        _ = await changes.next()
        try server.run("ALTER ROLE \(role) CONNECTION LIMIT 0", in: address)
        try Self.endConnections(address)
        var found = notes.makeAsyncIterator()
        guard case .lost = await found.next() else {
            Issue.record("nothing was lost")
            return
        }
        try server.run("ALTER ROLE \(role) CONNECTION LIMIT -1", in: address)
        guard case .regained = await found.next() else {
            Issue.record("nothing came back")
            return
        }
    }

    @Test("A server that does not respond is left, and the next request has another connection")
    func silence() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let storage = try await PostgresStorage.open(
            PostgresAddress(address),
            connections: 1,
            patience: .seconds(2)
        )
        let process = try server.run(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                + "AND backend_type = 'client backend' AND pid <> pg_backend_pid()",
            in: address
        )
        let pid = try #require(pid_t(process))
        #expect(kill(pid, SIGSTOP) == 0)
        defer { kill(pid, SIGCONT) }
        let error = await #expect(throws: StorageError.self) {
            try await storage.read { try $0.setting("a") }
        }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("did not respond") == true, "\(String(describing: error))")
        #expect(try await storage.read { try $0.setting("a") } == nil)
    }

    @Test("A write waits for another node's lock no longer than for its turn")
    func locks() async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        let holder = try await PostgresServer.open(address)
        let storage = try await PostgresStorage.open(
            PostgresAddress(address),
            patience: .seconds(2)
        )
        let (isHeld, opening) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let held = Task {
            try await holder.write { writer in
                _ = try writer.setting("a")
                isHeld.signal()
                _ = opening.wait(timeout: .now() + 60)
            }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                isHeld.wait()
                continuation.resume()
            }
        }
        let clock = ContinuousClock()
        let start = clock.now
        let error = await #expect(throws: StorageError.self) { try await Self.put("b", storage) }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("lock") == true, "\(String(describing: error))")
        #expect(clock.now - start < .seconds(20))
        opening.signal()
        try await held.value
        try await Self.put("b", storage)
    }

    @Test("A storage that is closed carries out what it took, and leaves no connection")
    func close() async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        let storage = try await PostgresServer.open(address)
        let results = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask {
                    do {
                        try await Self.put("k\(number)", storage)
                        return true
                    } catch let error as StorageError {
                        #expect(error == StorageError(.other, "The storage was closed"))
                        return false
                    } catch {
                        Issue.record(error)
                        return false
                    }
                }
            }
            group.addTask {
                await storage.end()
                return false
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(storage.counts.connections == 0)
        // The server notices that they have ended a moment later.
        while try Self.connections(address) > 0 { await Task.yield() }
        let other = try await PostgresServer.open(address)
        let kept = try await other.read { reader in
            try (0..<50).count { try reader.setting("k\($0)") != nil }
        }
        #expect(kept == results)
        await storage.end()
    }

    @Test(
        "A relaxed storage commits without waiting for the disk, another one as the server has it"
    )
    func durability() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let name = address.split(separator: "=").last ?? ""
        try server.run(
            "ALTER DATABASE \(name) SET synchronous_commit = remote_write",
            in: address
        )
        try await PostgresServer.open(address).end()
        // What a session has shows where it writes.
        try server.run(
            """
            CREATE TABLE seen (value text);
            CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO seen VALUES (current_setting('synchronous_commit'));
                RETURN NULL;
            END $$;
            CREATE TRIGGER see AFTER INSERT ON commit_marker
                FOR EACH STATEMENT EXECUTE FUNCTION see()
            """,
            in: address
        )
        for (durability, setting) in [
            (PostgresStorage.Durability.full, "remote_write"), (.relaxed, "off"),
        ] {
            let storage = try await PostgresStorage.open(address, durability: durability)
            try server.run("TRUNCATE seen", in: address)
            try await Self.put("a", storage)
            #expect(try server.run("SELECT DISTINCT value FROM seen", in: address) == setting)
        }
    }
}
#endif
