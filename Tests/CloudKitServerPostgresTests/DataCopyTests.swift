#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitServerSQLite
import Foundation
import PostgresFixtures
import Synchronization
import Testing

@Suite(
    "Copies between SQLite and PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct DataCopyTests {
    @Test(
        "All rows are the same on both, and back, whatever is in them",
        arguments: 1...6 as ClosedRange<UInt64>
    )
    func rows(seed: UInt64) async throws {
        let folder = try TestFolder()
        let data = RandomData(seed: seed)
        let first = try folder.newData()
        try data.write(to: first)
        let second = try await Self.newDatabase(partitions: seed % 2 == 0 ? 4 : 0)
        let report = try await DataCopy(from: first, to: second, assets: nil).run()
        #expect(report.differences == [])
        #expect(report.rows == data.rows.values.reduce(0) { $0 + $1.count })
        #expect(report.addedRows == report.rows)
        let third = try folder.newData()
        #expect(try await DataCopy(from: second, to: third, assets: nil).run().isComplete)
        let fourth = try await Self.newDatabase()
        #expect(try await DataCopy(from: third, to: fourth, assets: nil).run().isComplete)
        let expected = Self.sorted(data.rows)
        for (place, store) in [first, second, third, fourth].enumerated()
            as EnumeratedSequence<[any DataStore]>
        {
            let found = try dump(store)
            for table in DataTable.all {
                #expect(
                    found[table.name] ?? [] == expected[table.name] ?? [],
                    "\(place) \(table.name)"
                )
            }
        }
    }

    @Test("A copy that is cut after each page goes on where it was")
    func cuts() async throws {
        let folder = try TestFolder()
        let data = RandomData(seed: 3)
        let places: [(any DataStore, any DataStore)] = [
            (try folder.newData(), try await Self.newDatabase()),
            (try await Self.newDatabase(), try folder.newData()),
        ]
        for (source, target) in places {
            try data.write(to: source)
            var runs = 0
            while true {
                runs += 1
                do {
                    let report = try await DataCopy(
                        from: source,
                        to: CutStore(target, writes: 1),
                        assets: nil,
                        pageRows: 5
                    ).run()
                    #expect(report.isComplete)
                    break
                } catch is CutStore.Cut {
                    // The target has a page more than before.
                }
                try #require(runs < 1000)
            }
            #expect(runs > DataTable.all.count)
            #expect(try dump(target) == Self.sorted(data.rows))
        }
    }

    @Test(
        "A row that is lost, added or changed on the way is found",
        arguments: DataTable.all.map(\.name)
    )
    func damage(name: String) async throws {
        let table = try #require(DataTable.all.first { $0.name == name })
        let folder = try TestFolder()
        let source = try folder.newData()
        try RandomData(seed: 5).write(to: source)
        for damage in [Damage.loses, .changes] {
            // The comparison is the same for all engines; SQLite has no rows of a snapshot that is lost.
            let isDatabase = ["record", "snapshot"].contains(name)
            let target: any DataStore =
                isDatabase ? try await Self.newDatabase() : try folder.newData()
            let report = try await DataCopy(
                from: source,
                to: CutStore(target, damaging: table, damage),
                assets: nil
            ).run()
            #expect(!report.isComplete)
            let first = try #require(report.differences.first)
            #expect(first.hasPrefix("Table \(table.name), row with "), "\(first)")
            let words = damage == .loses ? "it is missing in \(target.name)" : target.name
            #expect(first.contains(words), "\(first)")
            // The next run finds it again, and no server uses the data meanwhile.
            let again = try await DataCopy(from: source, to: target, assets: nil).run()
            #expect(again.differences == report.differences)
            #expect(again.addedRows == 0)
        }
    }

    @Test("An unfinished copy is not opened, and continues with the same data alone")
    func unfinished() async throws {
        let folder = try TestFolder()
        let source = try folder.newData()
        try RandomData(seed: 1).write(to: source)
        let address = try PostgresServer.shared.get().newDatabase()
        let database = try await PostgresData.target(PostgresAddress(address))
        let (path, data) = try folder.newNamedData()
        for target in [database, data] as [any DataStore] {
            await #expect(throws: CutStore.Cut.self) {
                try await DataCopy(
                    from: source,
                    to: CutStore(target, writes: 3),
                    assets: nil,
                    pageRows: 5
                ).run()
            }
        }
        let refusal = "has an unfinished copy of other data"
        try await Self.expect(refusal) { _ = try await PostgresStorage.open(address) }
        try await Self.expect(refusal) { _ = try SQLiteStorage(path: path + "/cloud.sqlite") }
        try await Self.expect(refusal) {
            _ = try await Backup(of: path).write(to: path + "/backup.tar", seconds: 0)
        }
        try await Self.expect(refusal) {
            let copy = DataCopy(from: data, to: try folder.newData(), assets: nil)
            _ = try await copy.run()
        }
        let other = try folder.newData()
        try RandomData(seed: 2).write(to: other)
        try await Self.expect("was changed since that copy began") {
            _ = try await DataCopy(from: other, to: database, assets: nil).run()
        }
        for target in [database, data] as [any DataStore] {
            #expect(try await DataCopy(from: source, to: target, assets: nil).run().isComplete)
            try target.close()
        }
        _ = try await PostgresStorage.open(address)
        _ = try SQLiteStorage(path: path + "/cloud.sqlite")
        try await Self.expect("is not empty") {
            _ = try await DataCopy(from: source, to: database, assets: nil).run()
        }
    }

    @Test("A copy that is cancelled ends after a page, and goes on later")
    func cancellation() async throws {
        let folder = try TestFolder()
        let source = try folder.newData()
        try RandomData(seed: 6).write(to: source)
        let target = try folder.newData()
        let running = Mutex<Task<DataCopy.Report, any Error>?>(nil)
        let begins = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in begins.stream { break }
            let cut = CutStore(target, before: 5) { running.withLock { $0 }?.cancel() }
            return try await DataCopy(from: source, to: cut, assets: nil, pageRows: 5).run()
        }
        running.withLock { $0 = task }
        begins.continuation.yield()
        await #expect(throws: CancellationError.self) { try await task.value }
        let report = try await DataCopy(from: source, to: target, assets: nil).run()
        #expect(report.isComplete)
        #expect(report.addedRows > 0 && report.addedRows < report.rows)
    }

    @Test("Two copies to one target notice each other")
    func twoCopies() async throws {
        let folder = try TestFolder()
        let (path, source) = try folder.newNamedData()
        try RandomData(seed: 4).write(to: source)
        let sameSource = try SQLiteData.source(path)
        let address = try PostgresServer.shared.get().newDatabase()
        let target = try await PostgresData.target(PostgresAddress(address))
        let other = try await PostgresData.target(PostgresAddress(address))
        let intruder = CutStore(target, before: 4) {
            // It continues the copy up to its end.
            let copy = DataCopy(from: sameSource, to: other, assets: nil)
            _ = try await copy.run()
        }
        try await Self.expect("Another copy, or a server, writes to the same target") {
            _ = try await DataCopy(from: source, to: intruder, assets: nil, pageRows: 5).run()
        }
        #expect(try dump(target) == dump(source))
    }

    @Test("Nothing is written to a database while it is copied, and afterwards it is")
    func held() async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        let storage = try await PostgresStorage.open(address)
        try await storage.write { try $0.setSetting("a", Data([1])) }
        let folder = try TestFolder()
        var source: PostgresData? = try await PostgresData.source(
            PostgresAddress(address),
            isHeld: true
        )
        let write = Task { try await storage.write { try $0.setSetting("b", Data([2])) } }
        let target = try folder.newData()
        let report = try await DataCopy(from: #require(source), to: target, assets: nil).run()
        #expect(report.rows == 1)
        source = nil
        try await write.value
        #expect(try await storage.read { try $0.setting("b") } == Data([2]))
    }

    // MARK: Fixtures

    static func newDatabase(partitions: Int = 0) async throws -> PostgresData {
        let address = try PostgresServer.shared.get().newDatabase()
        return try await PostgresData.target(PostgresAddress(address), partitions: partitions)
    }

    static func sorted(_ rows: [String: [[DataValue]]]) -> [String: [[DataValue]]] {
        var sorted: [String: [[DataValue]]] = [:]
        for table in DataTable.all {
            let own = rows[table.name] ?? []
            guard !own.isEmpty else { continue }
            sorted[table.name] = own.sorted {
                table.key(of: $0).lexicographicallyPrecedes(table.key(of: $1))
            }
        }
        return sorted
    }

    static func expect(
        _ words: String,
        _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
            Issue.record("No error with the words: \(words)")
        } catch let error as StorageError {
            #expect(error.message.contains(words), "\(error.message)")
        }
    }
}

/// A folder that is removed with this object.
final class TestFolder: Sendable {
    let path: String
    private let count = Mutex(0)

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("DataCopyTests-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // What stays is temporary.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns a folder for data.
    func newNamedData() throws -> (path: String, data: SQLiteData) {
        let path = "\(path)/\(count.withLock { $0 += 1; return $0 })"
        return (path, try SQLiteData.target(path))
    }

    func newData() throws -> SQLiteData { try newNamedData().data }
}

/// A change on the way to a target.
enum Damage: Sendable {
    case loses, changes
}

/// A target that fails, or that writes something else.
final class CutStore: DataStore {
    struct Cut: Error {}

    private let base: any DataStore
    private let writes: Mutex<Int>
    private let damaged: (table: DataTable, damage: Damage)?
    private let intrusion: (@Sendable () async throws -> Void)?

    /// Fails after some writes.
    init(_ base: any DataStore, writes: Int) {
        self.base = base
        self.writes = Mutex(writes)
        damaged = nil
        intrusion = nil
    }

    /// Damages the last row of a table.
    init(_ base: any DataStore, damaging table: DataTable, _ damage: Damage) {
        self.base = base
        writes = Mutex(.max)
        damaged = (table, damage)
        intrusion = nil
    }

    /// Runs something before a write.
    init(
        _ base: any DataStore,
        before writes: Int,
        _ intrusion: @escaping @Sendable () async throws -> Void
    ) {
        self.base = base
        self.writes = Mutex(writes)
        damaged = nil
        self.intrusion = intrusion
    }

    var name: String { base.name }

    func read<Value>(_ body: (any DataReader) throws -> Value) throws -> Value {
        try base.read(body)
    }

    func write(_ body: (any DataWriter) throws -> Void) throws {
        let left = writes.withLock { left in
            left -= 1
            return left
        }
        if left == -1 {
            guard let intrusion else { throw Cut() }
            let result = Mutex<Result<Void, any Error>?>(nil)
            let end = DispatchSemaphore(value: 0)
            Task {
                do {
                    try await intrusion()
                    result.withLock { $0 = .success(()) }
                } catch {
                    result.withLock { $0 = .failure(error) }
                }
                end.signal()
            }
            end.wait()
            try result.withLock { $0 }?.get()
        }
        try base.write { try body(DamagingWriter(base: $0, damaged: damaged)) }
    }

    func close() throws { try base.close() }
}

private struct DamagingWriter: DataWriter {
    let base: any DataWriter
    let damaged: (table: DataTable, damage: Damage)?

    func add(_ rows: [[DataValue]], to table: DataTable) throws {
        var rows = rows
        if let damaged, damaged.table == table, let last = rows.popLast() {
            if damaged.damage == .changes { rows.append(Self.changed(last, table)) }
        }
        try base.add(rows, to: table)
    }

    /// Returns a row with another value, in a column that does not order the rows if there is one.
    private static func changed(_ row: [DataValue], _ table: DataTable) -> [DataValue] {
        let place =
            row.indices.last { !table.order.contains($0) && table.columns[$0].kind != .flag }
            ?? row.count - 1
        var row = row
        row[place] =
            switch table.columns[place].kind {
            case .integer, .flag: .integer(77_777_777)
            case .text, .bytes: .bytes(Data("changed".utf8))
            }
        return row
    }

    func replaceCopyState(_ old: Data?, with new: Data?) throws {
        try base.replaceCopyState(old, with: new)
    }

    func finishRows(_ counters: DataCounters) throws { try base.finishRows(counters) }
}
#endif
