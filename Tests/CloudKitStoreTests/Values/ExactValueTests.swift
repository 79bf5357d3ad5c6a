import CloudKit
import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

@Suite("A value arrives as it was written", .timeLimit(.minutes(10)))
struct ExactValueTests {
    /// Columns of every declared type, and of forms that differ from theirs.
    private static let columns: [(name: String, type: String)] = [
        ("i", "INTEGER"), ("big", "BIGINT"), ("b", "BOOLEAN"), ("r", "REAL"), ("dbl", "DOUBLE"),
        ("t", "TEXT"), ("v", "VARCHAR(20)"), ("d", "DATE"), ("dt", "DATETIME"), ("ts", "TIMESTAMP"),
        ("u", "UUID"), ("n", "NUMERIC"), ("dec", "DECIMAL(10,2)"), ("data", "BLOB"), ("j", "JSON"),
        ("list", "TEXT"), ("place", "TEXT"), ("si", "INTEGER"), ("sr", "REAL"), ("decText", "TEXT"),
        ("any", "BLOB"), ("secret", "DATE"), ("secretText", "TEXT"), ("file", "BLOB"),
        ("ref", "TEXT"),
    ]

    private static let schema = """
        CREATE TABLE owner (id TEXT PRIMARY KEY NOT NULL);
        CREATE TABLE thing (id INTEGER PRIMARY KEY, \
        \(columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")));
        """

    private static let tables: [SyncedTable] = [
        .table(
            "thing",
            assets: ["file": .withRow],
            encrypted: ["secret", "secretText"],
            forms: [
                "list": .list, "place": .location, "si": .secondsSince1970,
                "sr": .secondsSince1970, "decText": .decimal, "any": .text,
            ],
            assignsIntegerKeys: true
        )
    ]

    /// All kinds of values that SQLite stores, as SQL.
    private static let values = [
        "NULL", "0", "1", "-1", "42", "9223372036854775807", "(-9223372036854775807 - 1)",
        "9007199254740993", "0.0", "-0.0", "1.0", "0.1", "1e300", "1.5e-300", "9e999", "-9e999",
        "9007199254740993.0", "123456789.012345678", "''", "'a'", "'42'", "'1.0'", "'1e5'",
        "'0.10'",
        "'007'", "' 7 '", "'0x10'", "'9223372036854775808'", "'true'", "'FALSE'", "'Zürich'",
        "char(101, 769)", "char(233)", "'it''s'", "x''", "x'00'", "x'00ff'",
        "CAST('text' AS BLOB)", "x'3f2504e04f8941d39a0c0305e82c3301'",
        "'3f2504e0-4f89-41d3-9a0c-0305e82c3301'", "'3F2504E0-4F89-41D3-9A0C-0305E82C3301'",
        "'a' || char(0) || 'b'", "char(0)", "CAST(x'61ff62' AS TEXT)", "CAST(x'f09f8f' AS TEXT)",
        "'2012-09-18'", "'2012-09-18 10:11'", "'2012-09-18 10:11:12'", "'2012-09-18 10:11:12.125'",
        "'2012-09-18 10:11:12.123456'", "'2012-09-18T10:11:12Z'", "'2012-09-18T10:11:12.5+02:00'",
        "'2012-02-31'", "'12012-09-18'", "'10:11'", "1347926400", "1347926400.25", "2456188.5",
        "253402300800", "'[]'", "'[\"a\", \"b\"]'", "'[\"a\\/b\"]'", "'{}'",
        "'{\"latitude\":1,\"longitude\":2}'", "'{\"longitude\": 2.0, \"latitude\": 1.5}'",
    ]

    /// The SQL of a column's value as bytes and type.
    private static let exact = columns.map {
        "typeof(\($0.name)) || quote(\($0.name)) || hex(CAST(\($0.name) AS BLOB)) AS \($0.name)"
    }.joined(separator: ", ")

    private func exact(_ device: Device) async throws -> [Int64: [String: String]] {
        try await device.database.read { database in
            let rows = try Row.fetchAll(database, sql: "SELECT id, \(Self.exact) FROM thing")
            return Dictionary(
                uniqueKeysWithValues: rows.map { row in
                    let columns = Self.columns.map { ($0.name, row[$0.name] as String? ?? "") }
                    return (row["id"] as Int64, Dictionary(uniqueKeysWithValues: columns))
                }
            )
        }
    }

    private func expectEqual(_ one: Device, _ other: Device) async throws {
        let (first, second) = (try await exact(one), try await exact(other))
        #expect(first.count == second.count)
        for (id, columns) in first.sorted(by: { $0.key < $1.key }) {
            for (name, value) in columns.sorted(by: { $0.key < $1.key }) {
                #expect(second[id]?[name] == value, "\(name) of \(Self.values[Int(id)])")
            }
        }
        for device in [one, other] {
            #expect(try await device.store.verify().differences == [])
            #expect(try await device.store.status.quarantined == [])
        }
    }

    @Test("Every value of every type of column", arguments: CloudFixture.allCases)
    func everything(_ fixture: CloudFixture) async throws {
        try await withTwoDevices(fixture, tables: Self.tables, schema: Self.schema) {
            phone,
            laptop,
            _ in
            let names = Self.columns.map(\.name)
            for (id, value) in Self.values.enumerated() {
                let list = names.map { _ in value }.joined(separator: ", ")
                try await phone.run(
                    "INSERT INTO thing (id, \(names.joined(separator: ", "))) VALUES (\(id), \(list))"
                )
            }
            try await settle(phone, laptop)
            try await expectEqual(phone, laptop)
            // The same as edits, one column at a time.
            let count = Self.values.count
            for (id, _) in Self.values.enumerated() {
                for (place, name) in names.enumerated() where (id + place).isMultiple(of: 3) {
                    let value = Self.values[(id + place * 7 + 1) % count]
                    try await laptop.run("UPDATE thing SET \(name) = \(value) WHERE id = \(id)")
                }
            }
            try await settle(laptop, phone)
            try await expectEqual(laptop, phone)
        }
    }

    private static let days = "CREATE TABLE day (id TEXT PRIMARY KEY NOT NULL, at DATE, note TEXT)"

    @Test("A client that knows of no forms changes and clears what is written otherwise than usual")
    func otherClient() async throws {
        try await withTwoDevices(tables: [.table("day")], schema: Self.days) { phone, laptop, _ in
            try await phone.run(
                "INSERT INTO day VALUES ('a', '2012-09-18', 'x'), ('b', '2012-09-18', 'x')"
            )
            try await settle(phone, laptop)
            let changed = try await phone.cloud.record(for: Device.id("day:a"))
            #expect((changed["at"] as Date?)?.timeIntervalSince1970 == 1_347_926_400)
            changed["at"] = Date(timeIntervalSince1970: 1_347_926_400 + 86_400)
            let cleared = try await phone.cloud.record(for: Device.id("day:b"))
            cleared["at"] = nil
            _ = try await phone.cloud.modifyRecords(saving: [changed, cleared], deleting: [])
            try await settle(phone, laptop)
            for device in [phone, laptop] {
                #expect(
                    try await device.value("SELECT group_concat(quote(at)) FROM day ORDER BY id")
                        == "'2012-09-19 00:00:00.000',NULL"
                )
                #expect(try await device.store.verify().differences == [])
            }
        }
    }

    @Test(
        "A form that another client has overwritten does not return when it clears the field",
        arguments: [false, true]
    )
    func forgottenForm(isEncrypted: Bool) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let schema =
                "CREATE TABLE book (id TEXT PRIMARY KEY NOT NULL, pages INTEGER, size INTEGER, note TEXT)"
            func open() async throws -> Device {
                let encrypted: Set = isEncrypted ? ["pages", "size"] : []
                return try await Device(
                    cloud,
                    user,
                    tables: [.table("book", encrypted: encrypted)],
                    schema: schema
                )
            }
            let (phone, laptop) = (try await open(), try await open())
            func write(_ pages: Int?) async throws {
                let record = try await phone.cloud.record(for: Device.id("book:b"))
                if isEncrypted {
                    record.encryptedValues["pages"] = pages
                } else {
                    record["pages"] = pages
                }
                _ = try await phone.cloud.modifyRecords(saving: [record], deleting: [])
                try await settle(phone, laptop)
            }
            try await phone.run("INSERT INTO book VALUES ('b', 'many', 'big', NULL)")
            try await settle(phone, laptop)
            try await write(7)
            try await write(nil)
            // A device that has seen no other version of the record has the same.
            let tablet = try await open()
            try await settle(tablet, laptop, phone)
            for device in [phone, laptop, tablet] {
                #expect(
                    try await device.value("SELECT quote(pages) || quote(size) FROM book")
                        == "NULL'big'"
                )
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.status.waitingToSend == 0)
            }
            let record = try await phone.cloud.record(for: Device.id("book:b"))
            let forms: String? =
                isEncrypted ? record.encryptedValues["storeSecretForms"] : record["storeForms"]
            #expect(forms == "size=4:tbig")
            // Nor does it after a save of another column.
            try await phone.run("UPDATE book SET pages = 'few'")
            try await settle(phone, laptop)
            try await write(8)
            try await laptop.run("UPDATE book SET note = 'n'")
            try await settle(laptop, phone)
            try await write(nil)
            let late = try await open()
            try await settle(late, laptop, phone)
            for device in [phone, laptop, late] {
                #expect(try await device.value("SELECT quote(pages) || note FROM book") == "NULLn")
            }
        }
    }

    @Test("Another client's spelling of a value is no edit of this one")
    func otherSpelling() async throws {
        try await withTwoDevices(
            tables: [.table("thing", forms: ["list": .list, "place": .location])],
            schema: """
                CREATE TABLE thing (id TEXT PRIMARY KEY NOT NULL, u UUID, dec DECIMAL, j JSON,
                    list TEXT, place TEXT, d DATE)
                """
        ) { phone, laptop, _ in
            try await phone.store.sync()
            let record = CKRecord(recordType: "thing", recordID: Device.id("thing:a"))
            record["u"] = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
            record["dec"] = "0.10"
            record["j"] = "1.0"
            record["list"] = ["x/y", "z"]
            record["d"] = Date(timeIntervalSince1970: 1_347_926_400.123456)
            _ = try await phone.cloud.save(record)
            try await settle(phone, laptop)
            #expect(try await phone.rows(["thing"]) == laptop.rows(["thing"]))
            for device in [phone, laptop] {
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.sync().saved == 0)
            }
        }
    }

    @Test("A file of before takes its values along as they are, and overrules no edit with that")
    func upgrade() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let tables: [SyncedTable] = [.table("day")]
            let phone = try await Device(cloud, user, tables: tables, schema: Self.days)
            let laptop = try await Device(cloud, user, tables: tables, schema: Self.days)
            try await phone.run(
                """
                INSERT INTO day VALUES ('a', '2012-09-18 00:00:00.000', 'x'),
                    ('b', '2012-09-18 00:00:00.000', 'x')
                """
            )
            try await settle(phone, laptop)
            try await laptop.run("UPDATE day SET at = '2013-01-01' WHERE id = 'b'")
            await phone.store.stop()
            // A previously written value, of which only the date was sent to the server.
            try await phone.database.write { database in
                let triggers = try String.fetchAll(
                    database,
                    sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'"
                )
                for name in triggers { try database.execute(sql: "DROP TRIGGER \(name)") }
                try database.execute(sql: "UPDATE day SET at = '2012-09-18'")
            }
            let again = try await Device(cloud, user, database: phone.database, tables: tables)
            try await settle(again, laptop)
            try await settle(again, laptop)
            for device in [again, laptop] {
                #expect(
                    try await device.value("SELECT group_concat(at) FROM day ORDER BY id")
                        == "2012-09-18,2013-01-01"
                )
            }
        }
    }

    @Test("Identifiers are keys as text and as bytes, and texts that look alike are two keys")
    func keys() async throws {
        try await withTwoDevices(
            tables: [.table("thing"), .table("word")],
            schema: """
                CREATE TABLE thing (id UUID PRIMARY KEY NOT NULL, other UUID REFERENCES thing (id));
                CREATE TABLE word (id TEXT PRIMARY KEY NOT NULL, meaning TEXT);
                """
        ) { phone, laptop, _ in
            try await phone.run(
                """
                INSERT INTO thing VALUES ('3f2504e0-4f89-41d3-9a0c-0305e82c3301', NULL),
                    (x'00', '3f2504e0-4f89-41d3-9a0c-0305e82c3301');
                INSERT INTO word (id) VALUES (char(233)), (char(101, 769));
                """
            )
            await #expect(throws: DatabaseError.self) {
                try await phone.run("INSERT INTO word (id) VALUES ('a' || char(0))")
            }
            try await settle(phone, laptop)
            #expect(try await laptop.rows(["thing", "word"]) == phone.rows(["thing", "word"]))
            let words = "SELECT group_concat(hex(id)) FROM (SELECT id FROM word ORDER BY id)"
            #expect(try await laptop.value(words) == "65CC81,C3A9")
            for meaning in ["char(233)", "char(101, 769)"] {
                try await phone.run("UPDATE word SET meaning = \(meaning)")
                try await settle(phone, laptop)
            }
            #expect(try await laptop.value("SELECT hex(meaning) FROM word") == "65CC81")
            try await laptop.run("DELETE FROM word WHERE id = char(233)")
            try await settle(laptop, phone)
            #expect(try await phone.value(words) == "65CC81")
            try await phone.run("INSERT INTO thing VALUES ('no identifier', NULL)")
            try await settle(phone, laptop)
            let reason = try await phone.store.status.quarantined.first?.reason
            #expect(reason?.contains("'id' holds uuid values") == true)
        }
    }
}
