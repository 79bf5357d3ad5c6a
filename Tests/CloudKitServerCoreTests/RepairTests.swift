import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Synchronization
import Testing

@Suite("Repairs that do not come to their end", .timeLimit(.minutes(10)))
struct RepairTests {
    private static let zones = ["Notes", "Drafts", "Letters"]

    /// A folder that is deleted with its last use.
    private final class Folder: Sendable {
        let path: String
        var database: String { path + "/cloud.sqlite" }
        var mark: String { database + "-damaged" }

        init(copying other: Folder? = nil) throws {
            let manager = FileManager.default
            path =
                manager.temporaryDirectory
                .appendingPathComponent("cloudkit-repair-" + UUID().uuidString).path
            if let other {
                try manager.copyItem(atPath: other.path, toPath: path)
            } else {
                try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func service(_ storage: any Storage) throws -> CloudService {
            CloudService(
                storage: storage,
                assets: try FileAssetStorage(directory: path + "/assets"),
                clock: SystemClock(),
                randomness: SystemRandomness()
            )
        }
    }

    /// Returns a folder with records whose index entries cannot be read.
    private static func damaged() async throws -> Folder {
        let folder = try Folder()
        let storage = try SQLiteStorage(path: folder.database)
        let cloud = try await FixtureCloud(storage: storage)
        let ada = try await cloud.addUser()
        for zone in zones {
            try await cloud.addZone(zone, as: ada)
            let notes = (0..<5).map { number -> JSON in
                let text = JSON.string("needle \(number)")
                return FixtureCloud.note("create", "n\(number)", ["text": ["value": text]])
            }
            let made = try await cloud.modify(zone, as: ada, notes)
            try #require(made.records.allSatisfy { $0.serverErrorCode == nil })
        }
        try storage.close()
        var file = try Data(contentsOf: URL(fileURLWithPath: folder.database))
        let size = Int(file[16]) << 8 | Int(file[17])
        var count = 0
        for start in stride(from: 0, to: file.count, by: size) {
            let page = file[start..<start + size]
            // A leaf of an index, or of a table without row IDs, that has texts of records.
            guard page.first == 0x0A, page.firstRange(of: Data("needle 0".utf8)) != nil else {
                continue
            }
            file.replaceSubrange(start..<start + size, with: Data(count: size))
            count += 1
        }
        try #require(count > 0)
        try file.write(to: URL(fileURLWithPath: folder.database))
        return folder
    }

    /// Returns the names that a query finds in each zone.
    private static func found(_ folder: Folder) async throws -> [[String]] {
        let cloud = try await FixtureCloud(storage: SQLiteStorage(path: folder.database))
        let known = try #require(await cloud.service.users(container: FixtureCloud.container).first)
        let ada = try await cloud.again(FixtureCloud.User(user: known, token: ""))
        var found: [[String]] = []
        for zone in zones {
            let response = try await cloud.call(
                "records/query",
                as: ada,
                [
                    "zoneID": FixtureCloud.zone(zone),
                    "query": [
                        "recordType": "Note",
                        "filterBy": [
                            [
                                "fieldName": "text", "comparator": "BEGINS_WITH",
                                "fieldValue": ["value": "needle"],
                            ]
                        ],
                    ],
                ]
            )
            found.append(response.records.compactMap(\.recordName.text).sorted())
        }
        return found
    }

    @Test("After an interrupted repair nothing is written until a second one has ended")
    func cuts() async throws {
        let damaged = try await Self.damaged()
        let everything = Self.zones.map { _ in (0..<5).map { "n\($0)" } }
        var step = 0
        var wholes = 0
        while true {
            let folder = try Folder(copying: damaged)
            let cut = CutStorage(try SQLiteStorage(path: folder.database), after: step)
            do {
                let report = try await folder.service(cut).check(repairs: true)
                if !cut.wasCut {
                    #expect(report.isGood, "\(report.findings)")
                    #expect(!FileManager.default.fileExists(atPath: folder.mark))
                    break
                }
            } catch is Cut {}
            try cut.base.close()
            var isWhole = false
            if step > 0 {
                #expect(FileManager.default.fileExists(atPath: folder.mark), "\(step)")
            }
            do {
                let storage = try SQLiteStorage(path: folder.database)
                // The mark alone reports it as soon as a repair has begun.
                await storage.lookForDamage(within: step == 0 ? .seconds(60) : .zero)
                let error = await #expect(throws: StorageError.self) {
                    try await storage.write { try $0.setSetting("a", Data()) }
                }
                #expect(error?.code == .damaged)
                #expect(error?.message.contains("cloudkit check --repair") == true)
                let unready = try await folder.service(storage).unreadiness()
                #expect(unready?.contains("cloudkit check --repair") == true, "\(step)")
                // A check that repairs nothing leaves the mark, unless it finds all rows in order.
                let report = try await folder.service(storage).check()
                #expect(
                    report.findings.isEmpty
                        || report.findings.contains { $0.problem.contains("check --repair") },
                    "\(step): \(report.findings)"
                )
                isWhole = report.findings.isEmpty
                wholes += isWhole ? 1 : 0
                #expect(FileManager.default.fileExists(atPath: folder.mark) != isWhole, "\(step)")
                try storage.close()
            }
            if !isWhole {
                let backup = await #expect(throws: BackupError.self) {
                    _ = try await Backup(of: folder.path)
                        .write(to: folder.path + "/b.tar", seconds: 0)
                }
                #expect(backup?.description.contains("check --repair") == true, "\(step)")
            }
            do {
                let storage = try SQLiteStorage(path: folder.database)
                let report = try await folder.service(storage).check(repairs: true)
                #expect(report.isGood, "\(step): \(report.findings)")
                #expect(!FileManager.default.fileExists(atPath: folder.mark), "\(step)")
                #expect(try await folder.service(storage).check().findings == [], "\(step)")
                #expect(storage.damage == nil)
                try storage.close()
            }
            #expect(try await Self.found(folder) == everything, "\(step)")
            step += 1
        }
        // The mark, the tables, each zone, and the mark again.
        #expect(step >= wholes + Self.zones.count + 2)
    }

    @Test("A check that finds all whole takes the mark away, and a repair does too")
    func wholeDatabase() async throws {
        for repairs in [false, true] {
            let folder = try Folder()
            let storage = try SQLiteStorage(path: folder.database)
            storage.noteDamage("was there once")
            #expect(FileManager.default.fileExists(atPath: folder.mark))
            let report = try await folder.service(storage).check(repairs: repairs)
            #expect(report.findings == [])
            #expect(!FileManager.default.fileExists(atPath: folder.mark))
            try await storage.write { try $0.setSetting("a", Data()) }
        }
    }

    @Test("A check that does not compare all index entries does not remove the damage mark")
    func earlierIndexForm() async throws {
        let folder = try Folder()
        let storage = try SQLiteStorage(path: folder.database)
        _ = try await FixtureCloud(storage: storage)
        try await storage.write { writer in
            for environment in try writer.environments() {
                try writer.removeDocument("indexForm/\(environment.id.rawValue)", "version")
            }
        }
        storage.noteDamage("was there once")
        #expect(try await !folder.service(storage).check().isGood)
        #expect(FileManager.default.fileExists(atPath: folder.mark))
        #expect(try await folder.service(storage).check(repairs: true).isGood)
        #expect(!FileManager.default.fileExists(atPath: folder.mark))
    }

    @Test("A repair whose mark cannot be written changes nothing, and says why")
    func noMark() async throws {
        let folder = try await Self.damaged()
        // No file can take the place of a folder that is not empty.
        try FileManager.default.createDirectory(
            atPath: folder.mark + "/x",
            withIntermediateDirectories: true
        )
        let storage = try SQLiteStorage(path: folder.database)
        let error = await #expect(throws: StorageError.self) {
            _ = try await folder.service(storage).check(repairs: true)
        }
        #expect(error?.message.contains("nothing was repaired") == true)
        #expect(error?.message.contains(folder.mark) == true)
        try storage.close()
        try FileManager.default.removeItem(atPath: folder.mark)
        let again = try SQLiteStorage(path: folder.database)
        #expect(try await !folder.service(again).check().isGood)
        #expect(try await folder.service(again).check(repairs: true).isGood)
        try again.close()
        #expect(try await Self.found(folder) == Self.zones.map { _ in (0..<5).map { "n\($0)" } })
    }
}

/// The end of a process, as far as a storage sees it.
private struct Cut: Error {}

/// A storage that does some steps of a repair and nothing more, like one whose process was killed.
private final class CutStorage: RepairableStorage, WrappingStorage {
    let base: SQLiteStorage
    /// The number of steps that are left; nil once one was not done.
    private let left: Mutex<Int?>

    var wasCut: Bool { left.withLock { $0 == nil } }

    init(_ base: SQLiteStorage, after steps: Int) {
        self.base = base
        left = Mutex(steps)
    }

    private func step() throws {
        try left.withLock { left in
            guard let count = left, count > 0 else {
                left = nil
                throw Cut()
            }
            left = count - 1
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try step()
        return try await base.write(body)
    }

    func writeExclusively<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try step()
        return try await base.writeExclusively(body)
    }

    var damage: String? { base.damage }

    func lookForDamage(within limit: Duration) async { await base.lookForDamage(within: limit) }

    func beginRepair() throws {
        try step()
        try base.beginRepair()
    }

    func rebuildDamagedTables() async throws -> Bool {
        try step()
        return try await base.rebuildDamagedTables()
    }

    func noteDamage(_ damage: String?) {
        // A process that was killed just before keeps nothing.
        if (try? step()) != nil { base.noteDamage(damage) }
    }
}
