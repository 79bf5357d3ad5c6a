import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Synchronization
import Testing

@Suite("Assets are kept apart", .timeLimit(.minutes(10)))
struct AssetTests {
    private static let schema = """
        CREATE TABLE photo (id TEXT PRIMARY KEY NOT NULL, title TEXT, small BLOB, large BLOB)
        """
    private static let tables: [SyncedTable] = [
        .table("photo", assets: ["small": .withRow, "large": .onDemand])
    ]

    private func withPhoto(
        _ body: @Sendable (_ phone: Device, _ laptop: Device) async throws -> Void
    ) async throws {
        try await withTwoDevices(tables: Self.tables, schema: Self.schema) { phone, laptop, _ in
            try await phone.run(
                "INSERT INTO photo VALUES ('p', 'Sea', ?, ?)",
                [Data(repeating: 1, count: 5000), Data(repeating: 2, count: 50_000)]
            )
            try await phone.store.settled()
            try await laptop.store.settled()
            try await body(phone, laptop)
        }
    }

    @Test("An asset on demand is NULL until it is asked for, and then the same bytes")
    func onDemand() async throws {
        try await withPhoto { phone, laptop in
            #expect(try await laptop.value("SELECT length(small) FROM photo") == "5000")
            #expect(try await laptop.value("SELECT length(large) FROM photo") == nil)
            let changes = try await laptop.store.downloadAssets(in: "photo")
            #expect(changes.map(\.key) == ["p"])
            #expect(try await laptop.rows(["photo"]) == phone.rows(["photo"]))
            #expect(try await laptop.store.status.waitingToSend == 0)
            #expect(try await laptop.store.downloadAssets(in: "photo").isEmpty)
        }
    }

    @Test("A record whose file the service has lost is quarantined; the rest goes on")
    func lostFile() async throws {
        try await withTwoDevices(tables: Self.tables, schema: Self.schema) { phone, laptop, cloud in
            try await phone.run(
                "INSERT INTO photo VALUES ('p', 'Sea', ?, NULL), ('q', 'Lake', NULL, NULL)",
                [Data(repeating: 1, count: 5000)]
            )
            try await phone.store.settled()
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(.error(.notFound), operation: "assets/fetch")])
            )
            try await laptop.store.sync()
            #expect(try await laptop.value("SELECT group_concat(id) FROM photo") == "q")
            let reason = try await laptop.store.status.quarantined.first?.reason
            #expect(reason?.contains("'small' has no file") == true)
            try await laptop.store.sync()
            #expect(try await laptop.store.status.quarantined.map(\.key) == ["p"])
            let found = try await laptop.store.verify().differences
            #expect(found.map(\.recordName) == ["photo:p"])
            cloud.setFaults(nil)
            try await phone.run("UPDATE photo SET title = 'Ocean' WHERE id = 'p'")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT sum(length(small)) FROM photo") == "5000")
            #expect(try await laptop.store.status.quarantined.isEmpty)
        }
    }

    @Test("An edit of another field never takes an asset away, here or there")
    func otherField() async throws {
        try await withPhoto { phone, laptop in
            try await laptop.run("UPDATE photo SET title = 'Lake'")
            try await settle(laptop, phone)
            #expect(try await phone.value("SELECT length(large) FROM photo") == "50000")
            try await laptop.store.downloadAssets(in: "photo")
            try await phone.run("UPDATE photo SET title = 'River'")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT length(large) FROM photo") == "50000")
            #expect(try await laptop.value("SELECT title FROM photo") == "River")
        }
    }

    @Test("A new asset replaces the old one, and clearing one clears it everywhere")
    func replaced() async throws {
        try await withPhoto { phone, laptop in
            try await phone.run(
                "UPDATE photo SET small = ?, large = NULL",
                [Data(repeating: 3, count: 10)]
            )
            try await settle(phone, laptop)
            #expect(
                try await laptop.value("SELECT hex(small) FROM photo")
                    == String(repeating: "03", count: 10)
            )
            #expect(try await laptop.store.downloadAssets(in: "photo").isEmpty)
            let record = try await laptop.cloud.record(for: Device.id("photo:p"))
            #expect(!record.allKeys().contains("large"))
        }
    }

    @Test("Copies of assets lie beside the database, for its user alone, and go at the next start")
    func folder() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "assets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "photos.sqlite").path
        let copies = path + "-cloudkit-assets"
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            // Leftovers of a killed process.
            let left = copies + "/left"
            try FileManager.default.createDirectory(
                atPath: left,
                withIntermediateDirectories: true
            )
            try Data([1]).write(to: URL(filePath: left + "/1-large"))
            let database = try DatabaseQueue(path: path)
            try await database.write { try $0.execute(sql: Self.schema) }
            let holder = TransportHolder()
            let phone = try await Device(
                cloud,
                user,
                database: database,
                tables: Self.tables,
                transport: { holder.wrap($0) }
            )
            #expect(!FileManager.default.fileExists(atPath: left))
            let found = Mutex<[String]>([])
            holder.transport.before("records/modify") {
                let files = FileManager.default
                for name in try files.subpathsOfDirectory(atPath: copies) {
                    let attributes = try files.attributesOfItem(atPath: copies + "/" + name)
                    guard attributes[.type] as? FileAttributeType == .typeDirectory else {
                        found.withLock { $0.append("a copy") }
                        continue
                    }
                    let mode = attributes[.posixPermissions] as? Int ?? 0
                    found.withLock { $0.append(String(mode, radix: 8)) }
                }
            }
            try await phone.run(
                "INSERT INTO photo (id, large) VALUES ('p', ?)",
                [Data(repeating: 2, count: 50_000)]
            )
            try await phone.store.sync()
            #expect(found.withLock { $0.sorted() } == ["700", "a copy"])
            let rest = try FileManager.default.subpathsOfDirectory(atPath: copies)
            #expect(rest.allSatisfy { !$0.contains("large") })
            await phone.store.stop()
        }
    }
}
