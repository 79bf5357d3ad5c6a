import CloudKit
import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

@Suite("What no field says arrives as it was written", .timeLimit(.minutes(10)))
struct UnusualValueTests {
    /// Returns the rows of the table `thing`: types and bytes of all columns.
    private func exact(_ device: Device, _ columns: [String]) async throws -> [String] {
        let parts = columns.map {
            "'\($0)=' || typeof(\($0)) || ' ' || ifnull(hex(CAST(\($0) AS BLOB)), '-')"
        }
        let sql = "SELECT \(parts.joined(separator: " || ' ' || ")) FROM thing ORDER BY id"
        return try await device.database.read { try String.fetchAll($0, sql: sql) }
    }

    private func expectEqual(_ columns: [String], _ devices: Device...) async throws {
        let first = try await exact(devices[0], columns)
        #expect(!first.isEmpty)
        for device in devices {
            #expect(try await exact(device, columns) == first)
            #expect(try await device.store.verify().differences == [])
            #expect(try await device.store.status.isSettled)
        }
    }

    private static let plain = """
        CREATE TABLE thing (id TEXT PRIMARY KEY NOT NULL, word TEXT, day DATE, number INTEGER,
            amount REAL)
        """

    private static let things: [SyncedTable] = [.table("thing")]
    private static let plainColumns = ["id", "word", "day", "number", "amount"]

    private static let defaults = """
        CREATE TABLE thing (id TEXT PRIMARY KEY NOT NULL, word TEXT DEFAULT 'x',
            number INTEGER DEFAULT 5, day DATE DEFAULT '2012-01-01', secret TEXT DEFAULT 's',
            none TEXT DEFAULT NULL)
        """

    private static let defaultColumns = ["id", "word", "number", "day", "secret", "none"]

    @Test("A record without forms is read as it stands, and later edits keep what was not said")
    func recordWithoutForms() async throws {
        try await withTwoDevices(tables: Self.things, schema: Self.plain) { phone, laptop, _ in
            try await phone.store.sync()
            let record = CKRecord(recordType: "thing", recordID: Device.id("thing:a"))
            record["word"] = "w"
            record["day"] = Date(timeIntervalSince1970: 1_347_926_400)
            record["number"] = 7
            _ = try await phone.cloud.save(record)
            try await settle(phone, laptop)
            #expect(
                try await laptop.value("SELECT word || day || number FROM thing")
                    == "w2012-09-18 00:00:00.0007"
            )
            #expect(try await laptop.store.sync().saved == 0)
            try await laptop.run("UPDATE thing SET day = '2012-09-18', amount = 9e999")
            try await settle(laptop, phone)
            try await expectEqual(Self.plainColumns, phone, laptop)
            #expect(try await phone.value("SELECT day FROM thing") == "2012-09-18")
            let saved = try await phone.cloud.record(for: Device.id("thing:a"))
            #expect((saved["day"] as Date?)?.timeIntervalSince1970 == 1_347_926_400)
            #expect(saved["amount"] == nil)
        }
    }

    @Test("A write that no trigger saw is found, also in a field that the server never had")
    func untracked() async throws {
        try await withTwoDevices(tables: Self.things, schema: Self.plain) { phone, laptop, _ in
            try await phone.run("INSERT INTO thing (id, day) VALUES ('a', '2012-09-18')")
            try await settle(phone, laptop)
            for edit in ["word = 'z'", "day = '2012-09-18 00:00:00.000'"] {
                try await phone.run(
                    """
                    UPDATE grdb_cloudkit_control SET applying = 1;
                    UPDATE thing SET \(edit);
                    UPDATE grdb_cloudkit_control SET applying = 0;
                    """
                )
                let found = try await phone.store.verify(repairing: true).differences
                #expect(found.map(\.kind) == [.unnotedEdit])
                try await settle(phone, laptop)
                try await expectEqual(Self.plainColumns, phone, laptop)
            }
        }
    }

    @Test("A counter whose sum is no number takes the later edit")
    func infiniteSums() async throws {
        try await withTwoDevices(
            tables: [.table("thing", fieldRules: ["amount": .counter])],
            schema: "CREATE TABLE thing (id TEXT PRIMARY KEY NOT NULL, amount REAL NOT NULL)"
        ) { phone, laptop, _ in
            try await phone.run("INSERT INTO thing VALUES ('a', 1.0), ('b', 9e999), ('c', 1e308)")
            try await settle(phone, laptop)
            let (up, down) = ("9e999", "-9e999")
            try await phone.run(
                "UPDATE thing SET amount = CASE id WHEN 'a' THEN \(up) WHEN 'b' THEN 1 ELSE -1e308 END"
            )
            try await laptop.run(
                "UPDATE thing SET amount = CASE id WHEN 'c' THEN -1e308 ELSE \(down) END"
            )
            try await settle(phone, laptop)
            try await expectEqual(["id", "amount"], phone, laptop)
            #expect(try await phone.store.journal().count + laptop.store.journal().count > 0)
        }
    }

    @Test("A key that is no UTF-8 is quarantined with its reason, and its deletion is forgotten")
    func brokenKey() async throws {
        try await withTwoDevices(tables: Self.things, schema: Self.plain) { phone, laptop, _ in
            try await phone.run(
                """
                INSERT INTO thing (id) VALUES ('fine'), (CAST(x'ff61' AS TEXT)), (x'ff62');
                """
            )
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT group_concat(id) FROM thing") == "fine")
            let aside = try await phone.store.status.quarantined
            #expect(aside.count == 2)
            #expect(aside.allSatisfy { $0.reason.contains("'id' holds text values") })
            try await phone.run("DELETE FROM thing WHERE id <> 'fine'")
            try await settle(phone, laptop)
            try await expectEqual(Self.plainColumns, phone, laptop)
        }
    }

    @Test("NULL in a column with a default is no default elsewhere")
    func nullOverDefaults() async throws {
        let tables: [SyncedTable] = [.table("thing", encrypted: ["secret"])]
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            func device() async throws -> Device {
                try await Device(cloud, user, tables: tables, schema: Self.defaults)
            }
            let (phone, laptop) = (try await device(), try await device())
            try await phone.run(
                """
                INSERT INTO thing VALUES ('a', NULL, NULL, NULL, NULL, NULL);
                INSERT INTO thing (id) VALUES ('b'), ('c');
                """
            )
            try await settle(phone, laptop)
            try await expectEqual(Self.defaultColumns, phone, laptop)
            // As an edit, beside other edits, and reverted.
            try await phone.run("UPDATE thing SET word = NULL, secret = NULL WHERE id = 'b'")
            try await laptop.run("UPDATE thing SET day = '2013-01-01' WHERE id = 'b'")
            try await settle(phone, laptop)
            try await laptop.run("UPDATE thing SET number = 6 WHERE id = 'a'")
            try await settle(laptop, phone)
            let tablet = try await device()
            try await settle(tablet)
            try await expectEqual(Self.defaultColumns, phone, laptop, tablet)
            let words = "SELECT group_concat(ifnull(word, '-') || number) FROM thing"
            #expect(try await tablet.value(words) == "-6,-5,x5")
        }
    }

    @Test("NULL is noted for a field that the server never had, also when another field is merged")
    func nullOfUnknownField() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let old = "CREATE TABLE thing (id TEXT PRIMARY KEY NOT NULL, word TEXT)"
            let tables: [SyncedTable] = [.table("thing")]
            let phone = try await Device(cloud, user, tables: tables, schema: old)
            try await phone.run("INSERT INTO thing VALUES ('a', 'w'), ('b', 'w')")
            try await phone.store.sync()
            await phone.store.stop()
            try await phone.run("ALTER TABLE thing ADD COLUMN number INTEGER DEFAULT 5")
            let new = try await Device(cloud, user, database: phone.database, tables: tables)
            let schema = "\(old); ALTER TABLE thing ADD COLUMN number INTEGER DEFAULT 5"
            let laptop = try await Device(cloud, user, tables: tables, schema: schema)
            try await settle(new, laptop)
            try await new.run("UPDATE thing SET number = NULL")
            try await laptop.run("UPDATE thing SET word = 'other' WHERE id = 'b'")
            try await laptop.store.sync()
            try await settle(new, laptop)
            try await expectEqual(["id", "word", "number"], new, laptop)
            #expect(try await laptop.value("SELECT count(number) FROM thing") == "0")
        }
    }
}
