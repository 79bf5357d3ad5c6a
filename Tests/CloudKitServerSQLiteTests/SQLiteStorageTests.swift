import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import GRDB
import StorageConformance
import Synchronization
import Testing

@Suite("The SQLite engine")
struct SQLiteStorageTests {
    @Test("Keeps the promises of a storage in memory", arguments: StorageConformance.checks)
    func memory(check: StorageConformance.Check) async throws {
        try await check.run(SQLiteStorage(path: nil))
    }

    @Test("Keeps the promises of a storage in a file", arguments: StorageConformance.checks)
    func file(check: StorageConformance.Check) async throws {
        let folder = try TemporaryFolder()
        try await check.run(SQLiteStorage(path: folder.path + "/cloud.sqlite"))
    }

    @Test("Keeps them with a transaction for each write too", arguments: StorageConformance.checks)
    func singleWrites(check: StorageConformance.Check) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cloud.sqlite"
        try await check.run(SQLiteStorage(path: path, writesPerCommit: 1))
    }

    /// Counts the closures that run at the same time.
    private final class Running: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock { $0.most } }

        func count(_ body: (_ start: ContinuousClock.Instant) -> Void) {
            counts.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            body(.now)
            counts.withLock { $0.now -= 1 }
        }
    }

    @Test("No more tasks of requests compute at a time than there are processors")
    func computingTasks() async throws {
        let storage = try SQLiteStorage(path: nil)
        let running = Running()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask(executorPreference: storage.threads) {
                    running.count { while ContinuousClock.now < $0 + .milliseconds(2) {} }
                }
            }
        }
        let processors = max(2, ProcessInfo.processInfo.activeProcessorCount)
        #expect((1...processors).contains(running.most))
    }

    @Test("A connection reads what another one has written since its last read")
    func writesBetweenReads() async throws {
        let folder = try TemporaryFolder()
        let storage = try SQLiteStorage(path: folder.path + "/cloud.sqlite")
        let environment = try await storage.write {
            try $0.addEnvironment(container: "iCloud.a", .development)
        }
        // One read at a time has the same connection each time.
        for version in Int64(0)..<3 {
            let read = try await storage.read { try $0.environment(environment.id) }
            let again = try await storage.read { try $0.environment(environment.id) }
            #expect(read?.schemaVersion == version)
            #expect(again == read)
            try await storage.write {
                try $0.setSchema(environment.id, version: version + 1, Data())
            }
        }
    }

    @Test("A file that is opened again has everything")
    func reopen() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cloud.sqlite"
        do {
            let storage = try SQLiteStorage(path: path)
            try await storage.write { try $0.setSetting("a", Data([1])) }
        }
        let storage = try SQLiteStorage(path: path)
        #expect(try await storage.read { try $0.setting("a") } == Data([1]))
    }

    @Test("After damage was noticed nothing is written, and what can be read is read")
    func damage() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cloud.sqlite"
        try SQLiteStorage(path: path).close()
        let place = try await DatabaseQueue(path: path).read { file in
            let root = "SELECT rootpage - 1 FROM sqlite_master WHERE name = 'pushByQueue'"
            return try Int64.fetchOne(file, sql: root)
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(try #require(place)) * 4096)
        // No kind of page.
        try file.write(contentsOf: Data([7]))
        try file.close()
        let storage = try SQLiteStorage(path: path)
        try await storage.write { try $0.setSetting("a", Data([2])) }
        await #expect(throws: StorageError.self) {
            try await storage.read { _ = try $0.pushes(Data([1]), limit: 1) }
        }
        for isAlone in [false, true] {
            let error = await #expect(throws: StorageError.self) {
                if isAlone {
                    try await storage.writeExclusively { try $0.setSetting("a", Data([3])) }
                } else {
                    try await storage.write { try $0.setSetting("a", Data([3])) }
                }
            }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("cloudkit check --repair") == true)
        }
        #expect(try await storage.read { try $0.setting("a") } == Data([2]))
        // Another process need not look for it, and a complete check ends it.
        let other = try SQLiteStorage(path: path)
        #expect(other.damage == nil)
        await other.lookForDamage(within: .zero)
        #expect(other.damage == storage.damage)
        let mark = path + "-damaged"
        let attributes = try FileManager.default.attributesOfItem(atPath: mark)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        other.noteDamage(nil)
        #expect(!FileManager.default.fileExists(atPath: mark))
        try await other.write { try $0.setSetting("a", Data([4])) }
    }

    @Test("A file that is no database is refused with its fault")
    func noDatabase() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cloud.sqlite"
        try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: path))
        #expect {
            _ = try SQLiteStorage(path: path)
        } throws: { error in
            (error as? StorageError)?.code == .corrupt
        }
    }

    /// The executed closures, in order.
    private final class Log: Sendable {
        private let names = Mutex<[String]>([])

        var all: [String] { names.withLock { $0 } }

        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    private struct Refused: Error, Equatable {}

    /// Runs writes that wait for the writer together, in order; returns the executed closures, in order.
    private func run(
        _ storage: SQLiteStorage,
        _ writes: [(name: String, isAlone: Bool, fails: Bool)]
    ) async throws -> (ran: [String], failed: Set<String>) {
        let log = Log()
        let gate = Gate()
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                try await storage.write { _ in gate.hold() }
                return nil
            }
            while !gate.isHeld { await Task.yield() }
            for (place, write) in writes.enumerated() {
                group.addTask {
                    let body: @Sendable (any StorageWriter) throws -> Void = { writer in
                        log.add(write.name)
                        try writer.setSetting(write.name, Data([1]))
                        if write.fails { throw Refused() }
                    }
                    do {
                        if write.isAlone {
                            try await storage.writeExclusively(body)
                        } else {
                            try await storage.write(body)
                        }
                        return nil
                    } catch is Refused {
                        return write.name
                    }
                }
                while storage.waitingWrites < place + 1 { await Task.yield() }
            }
            gate.open()
            var failed: Set<String> = []
            for try await name in group { if let name { failed.insert(name) } }
            return (log.all, failed)
        }
    }

    @Test("A write that failed is not made again with its group, whose others are kept")
    func failure() async throws {
        let folder = try TemporaryFolder()
        let storage = try SQLiteStorage(path: folder.path + "/cloud.sqlite")
        let (ran, failed) = try await run(
            storage,
            [("a", false, false), ("b", false, true), ("c", false, false), ("d", false, true)]
        )
        // The first is undone with the second, which is not repeated.
        #expect(ran == ["a", "b", "a", "c", "d"])
        #expect(failed == ["b", "d"])
        let kept = try await storage.read { reader in
            try ["a", "b", "c", "d"].filter { try reader.setting($0) != nil }
        }
        #expect(kept == ["a", "c"])
    }

    @Test("Between two writes that go alone, those go that share")
    func turns() async throws {
        let folder = try TemporaryFolder()
        let storage = try SQLiteStorage(path: folder.path + "/cloud.sqlite")
        let (ran, failed) = try await run(
            storage,
            [
                ("long 1", true, true), ("long 2", true, false), ("long 3", true, true),
                ("a", false, false), ("b", false, false),
            ]
        )
        #expect(ran == ["long 1", "a", "b", "long 2", "long 3"])
        #expect(failed == ["long 1", "long 3"])
        let kept = try await storage.read { try $0.setting("long 2") }
        #expect(kept != nil)
    }
}
