import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
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

    @Test("A record whose file the service has lost is set aside with the reason; the rest goes on")
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
            let reason = try await laptop.store.status.setAside.first?.reason
            #expect(reason?.contains("'small' has no file") == true)
            try await laptop.store.sync()
            #expect(try await laptop.store.status.setAside.map(\.key) == ["p"])
            let found = try await laptop.store.verify().differences
            #expect(found.map(\.recordName) == ["photo:p"])
            cloud.setFaults(nil)
            try await phone.run("UPDATE photo SET title = 'Ocean' WHERE id = 'p'")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT sum(length(small)) FROM photo") == "5000")
            #expect(try await laptop.store.status.setAside.isEmpty)
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
}
