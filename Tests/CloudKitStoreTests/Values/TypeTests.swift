import CloudKit
import CloudKitStore
import CoreLocation
import Foundation
import GRDB
import Support
import Testing

@Suite("Every type of column travels without loss", .timeLimit(.minutes(10)))
struct TypeTests {
    private static let schema = """
        CREATE TABLE thing (
            id BLOB PRIMARY KEY NOT NULL, i INTEGER, big BIGINT, b BOOLEAN, r DOUBLE, t TEXT,
            v VARCHAR(20), d DATETIME, s REAL, u UUID, dec DECIMAL(30, 10), data BLOB, j JSON,
            list TEXT, numbers TEXT, place TEXT, secret TEXT
        );
        """
    private static let tables: [SyncedTable] = [
        .table(
            "thing",
            encrypted: ["secret"],
            forms: [
                "s": .secondsSince1970, "list": .list, "numbers": .list, "place": .location,
                "dec": .decimal,
            ]
        )
    ]

    @Test("Values come back as they were", arguments: CloudFixture.allCases)
    func values(_ fixture: CloudFixture) async throws {
        try await withTwoDevices(fixture, tables: Self.tables, schema: Self.schema) {
            phone,
            laptop,
            _ in
            try await phone.run(
                """
                INSERT INTO thing VALUES (x'000102030405060708090a0b0c0d0e0f', 42,
                    9223372036854775807, 1, 0.1, 'Zürich 🏔', '', '1969-07-20 20:17:40.125',
                    -14182940.5, x'3f2504e04f8941d39a0c0305e82c3301', '123456789.0123456789',
                    x'00ff', '{"a": [1, 2]}', '["x","y \\" z"]', '[1,2,3]',
                    '{"latitude":47.5,"longitude":-8.25}', 'hidden')
                """
            )
            try await phone.run("INSERT INTO thing (id) VALUES (x'01')")
            try await phone.store.settled()
            try await laptop.store.settled()
            #expect(try await laptop.rows(["thing"]) == phone.rows(["thing"]))
            #expect(try await laptop.rows(["thing"]).count == 2)
        }
    }

    @Test("Fields have the types that CloudKit's tools and queries expect")
    func fields() async throws {
        try await withTwoDevices(tables: Self.tables, schema: Self.schema) { phone, _, _ in
            try await phone.run(
                """
                INSERT INTO thing (id, i, b, r, d, s, u, dec, list, place, secret) VALUES (x'0a', 1,
                    1, 2, '2024-02-29 12:00:00.250', 1.5, x'3f2504e04f8941d39a0c0305e82c3301',
                    '0.10', '["x"]', '{"latitude":1,"longitude":2}', 'hidden')
                """
            )
            try await phone.store.sync()
            let record = try await phone.cloud.record(for: Device.id("thing:0A"))
            #expect(record["i"] as Int64? == 1)
            #expect(record["r"] as Double? == 2)
            #expect((record["d"] as Date?)?.timeIntervalSince1970 == 1_709_208_000.25)
            #expect((record["s"] as Date?)?.timeIntervalSince1970 == 1.5)
            #expect(record["u"] as String? == "3F2504E0-4F89-41D3-9A0C-0305E82C3301")
            #expect(record["list"] as [String]? == ["x"])
            #expect((record["place"] as CLLocation?)?.coordinate.longitude == 2)
            #expect(record["secret"] as String? == nil)
            #expect(record.encryptedValues["secret"] as String? == "hidden")
        }
    }

    @Test("A key that is too long for a record name is quarantined with the reason")
    func longKey() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run(
                "INSERT INTO note (id) VALUES (?)",
                [String(repeating: "k", count: 300)]
            )
            try await phone.run("INSERT INTO note (id) VALUES ('short')")
            try await settle(phone, laptop)
            #expect(try await laptop.rows().count == 1)
            let reason = try await phone.store.status.quarantined.first?.reason
            #expect(reason?.contains("255") == true)
            try await phone.run("DELETE FROM note WHERE id <> 'short'")
            try await settle(phone, laptop)
            #expect(try await phone.store.status.isSettled)
        }
    }

    @Test(
        "Keys of any text are one name each",
        arguments: ["a", "a/b", "a,b", "%41", "ü", "🏔", "\"q\"", " ", "a:b", "_x", "\n"]
    )
    func keys(_ key: String) async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES (?, 't')", [key])
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT id FROM note") == key)
            let id = try await phone.store.recordID(of: key, in: "note")
            #expect(phone.store.row(behind: id)?.key == key)
        }
    }
}
