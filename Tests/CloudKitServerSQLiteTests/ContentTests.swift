import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import GRDB
import Synchronization
import Testing

/// A single statement discards all rows of a zone; they are removed later, in steps.
@Suite("What SQLite removes later", .timeLimit(.minutes(10)))
struct ContentTests {
    private static let records = 2500
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/cloud.sqlite"
    }

    private struct Place {
        var environment: RowID<StoredEnvironment>
        var database: RowID<StoredDatabase>
    }

    /// Adds a zone with many records, each with two index entries, a reference and an asset.
    private func fill(_ storage: SQLiteStorage) async throws -> Place {
        try await storage.write { writer in
            let environment = try writer.addEnvironment(container: "c", .development).id
            let database = try writer.addDatabase(environment, owner: nil, incarnation: 1).id
            let zone = try writer.addZone(Self.zone(database)).id
            for number in 1...Self.records {
                let row = try writer.addRecord(Self.record(zone, Int64(number)))
                let key = Data("\(number)".utf8)
                let entries = [1, 2].map { IndexEntry(index: $0, key: key, record: row) }
                try writer.addEntries(entries, in: zone)
                try writer.addReference(
                    StoredReference(source: row, target: "t", kind: .validate),
                    in: zone
                )
                try writer.setAssets([Data([1])], of: row, in: zone)
            }
            return Place(environment: environment, database: database)
        }
    }

    private static func zone(_ database: RowID<StoredDatabase>) -> StoredZone {
        StoredZone(
            id: RowID(rawValue: 0),
            database: database,
            name: "zone",
            incarnation: 1,
            headSequence: 0,
            changeSequence: 1,
            isDeleted: false
        )
    }

    private static func record(_ zone: RowID<StoredZone>, _ number: Int64) -> StoredRecord {
        StoredRecord(
            id: RowID(rawValue: 0),
            zone: zone,
            name: "r\(number)",
            type: "T",
            sequence: number,
            created: .init(milliseconds: 1, user: "_a"),
            modified: .init(milliseconds: 1, user: "_a"),
            fields: Data("{}".utf8)
        )
    }

    /// The rows of a database, as another program sees them.
    private struct Rows {
        private let queue: DatabaseQueue

        init(_ path: String) throws {
            queue = try DatabaseQueue(path: path)
        }

        var count: Int {
            get throws {
                try queue.read { database in
                    try ["record", "indexEntry", "reference", "asset"].reduce(0) { sum, table in
                        try sum
                            + (Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0)
                    }
                }
            }
        }

        var contents: Int {
            get throws {
                try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM content") ?? 0 }
            }
        }
    }

    /// Runs writes one after the other, and then others in any order; all wait before the first begins.
    private func run(
        _ storage: SQLiteStorage,
        _ writes: [@Sendable (any StorageWriter) throws -> Void],
        then others: [@Sendable (any StorageWriter) throws -> Void] = []
    ) async throws {
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await storage.write { _ in gate.hold() } }
            while !gate.isHeld { await Task.yield() }
            for (place, write) in writes.enumerated() {
                group.addTask { try await storage.write(write) }
                while storage.waitingWrites < place + 1 { await Task.yield() }
            }
            // All at once: where other tests keep the processors, each wait takes long.
            for write in others { group.addTask { try await storage.write(write) } }
            while storage.waitingWrites < writes.count + others.count { await Task.yield() }
            gate.open()
            try await group.waitForAll()
        }
    }

    @Test("Where writes always wait, what was removed goes between them, so many rows at a time")
    func steps() async throws {
        let storage = try SQLiteStorage(path: path, writesPerCommit: 1)
        let place = try await fill(storage)
        let rows = try Rows(path)
        let before = try rows.count
        let counts = Mutex<[Int]>([])
        let look: @Sendable (any StorageWriter) throws -> Void = { _ in
            let count = try rows.count
            counts.withLock { $0.append(count) }
        }
        try await run(
            storage,
            [{ try $0.removeZones(of: place.environment) }],
            then: Array(repeating: look, count: 48)
        )
        let seen = counts.withLock { $0 }
        #expect(seen.count == 48)
        // Neither the write that removed the zones nor the next one moved a row.
        #expect(seen.first == before)
        let steps = zip(seen, seen.dropFirst()).map { $0 - $1 }.filter { $0 != 0 }
        #expect(steps == [1000, 1000, 1000] || steps == [1000, 1000])
    }

    @Test("When no write waits, all that was removed goes")
    func idle() async throws {
        let storage = try SQLiteStorage(path: path)
        let place = try await fill(storage)
        try await storage.write { try $0.removeZones(of: place.environment) }
        let rows = try Rows(path)
        while try rows.count + rows.contents > 0 { await Task.yield() }
        // An emptied zone stays, and accepts new records.
        let zone = try await storage.write { try $0.addZone(Self.zone(place.database)).id }
        try await storage.write { _ = try $0.addRecord(Self.record(zone, 1)) }
        try await storage.write { writer in
            try writer.removeContents(of: zone)
            _ = try writer.addRecord(Self.record(zone, 2))
        }
        while try rows.count > 1 { await Task.yield() }
        #expect(try await storage.read { try $0.record(zone, name: "r2") } != nil)
    }

    @Test(
        "What a process that ended had not removed yet stays out of reach, and goes after a start"
    )
    func crash() async throws {
        let copy = folder.path + "/copy.sqlite"
        do {
            let storage = try SQLiteStorage(path: path, writesPerCommit: 1)
            let place = try await fill(storage)
            try await run(
                storage,
                [
                    { try $0.removeZones(of: place.environment) },
                    { [path] _ in
                        // The files as they are when the process ends here.
                        for suffix in ["", "-wal"] {
                            try FileManager.default.copyItem(
                                atPath: path + suffix,
                                toPath: copy + suffix
                            )
                        }
                    },
                ]
            )
        }
        let rows = try Rows(copy)
        #expect(try rows.count == 5 * Self.records)
        let storage = try SQLiteStorage(path: copy)
        let gone = try await storage.read { reader in
            try reader.record(RowID(rawValue: 1), in: RowID(rawValue: 1))
        }
        #expect(gone == nil)
        #expect(try await storage.read { try $0.holdsAsset(Data([1])) } == false)
        while try rows.count + rows.contents > 0 { await Task.yield() }
    }

    @Test("The rows of a zone stay, even if they are marked as discarded")
    func contradiction() async throws {
        let storage = try SQLiteStorage(path: path)
        let place = try await fill(storage)
        try storage.close()
        try await DatabaseQueue(path: path).write {
            try $0.execute(sql: "UPDATE content SET isDiscarded = 1")
        }
        let rows = try Rows(path)
        let before = try rows.count
        let again = try SQLiteStorage(path: path)
        try await again.write { writer in
            var other = Self.zone(place.database)
            other.name = "other"
            let zone = try writer.addZone(other).id
            _ = try writer.addRecord(Self.record(zone, 1))
            try writer.removeContents(of: zone)
        }
        // The oldest goes first, so the zone's own would have gone before.
        while try rows.contents > 2 { await Task.yield() }
        #expect(try rows.count == before)
    }

    @Test("What a snapshot has stays until it goes")
    func snapshot() async throws {
        let storage = try SQLiteStorage(path: path)
        let place = try await fill(storage)
        let rows = try Rows(path)
        let before = try rows.count
        try await storage.write { writer in
            let snapshot = StoredSnapshot(container: "c", name: "s", created: 1)
            try writer.addSnapshot(snapshot, of: [place.environment], documents: [])
            try writer.removeZones(of: place.environment)
        }
        // Something else is removed after it.
        try await storage.write { writer in
            let zone = try writer.addZone(Self.zone(place.database)).id
            _ = try writer.addRecord(Self.record(zone, 1))
            try writer.removeContents(of: zone)
        }
        while try rows.contents > 2 { await Task.yield() }
        // One row prevents the reuse of record numbers.
        #expect(try rows.count == before + 1)
        try await storage.write { try $0.removeSnapshot("c", "s") }
        while try rows.count > 0 { await Task.yield() }
    }
}
