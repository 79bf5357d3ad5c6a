import CloudKit
import CloudKitStore
import GRDB
import Support
import Synchronization
import Testing

@Suite("Rows that exchange UNIQUE values", .timeLimit(.minutes(10)))
struct UniqueExchangeTests {
    private static let schema = """
        CREATE TABLE tag (id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, colour TEXT);
        CREATE TABLE item (
            id TEXT PRIMARY KEY NOT NULL, list TEXT NOT NULL DEFAULT 'l',
            pos INTEGER NOT NULL CHECK (pos BETWEEN 0 AND 100), UNIQUE (list, pos)
        ) STRICT;
        CREATE TABLE slot (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, gone INTEGER NOT NULL DEFAULT 0
        );
        CREATE UNIQUE INDEX slot_name ON slot (lower(name)) WHERE gone = 0;
        """
    private static let tables: [SyncedTable] = [
        .table("tag"), .table("item"), .table("slot", uniqueness: .waits),
    ]
    private static let names = ["tag", "item", "slot"]
    private static let rows = """
        INSERT INTO tag (id, name) VALUES ('a', '1'), ('b', '2'), ('c', '3'), ('d', NULL);
        INSERT INTO item (id, pos) VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4);
        INSERT INTO slot (id, name) VALUES ('a', 'One'), ('b', 'Two'), ('c', 'Three');
        """

    /// Edits in one transaction, after which no two values are equal.
    private static let edits = [
        // Two rows.
        """
        UPDATE tag SET name = NULL WHERE id = 'a'; UPDATE tag SET name = '1' WHERE id = 'b';
        UPDATE tag SET name = '2' WHERE id = 'a';
        """,
        // Three, in both directions, and one that follows.
        """
        UPDATE tag SET name = '-' || name; UPDATE item SET pos = pos + 50;
        UPDATE tag SET name = CASE id WHEN 'a' THEN '2' WHEN 'b' THEN '3' WHEN 'c' THEN '1' ELSE 'x' END;
        UPDATE item SET pos = CASE id WHEN 'a' THEN 3 WHEN 'b' THEN 1 WHEN 'c' THEN 2 ELSE 9 END;
        """,
        // All by one, up and down.
        "UPDATE item SET pos = pos + 50; UPDATE item SET pos = pos - 49;",
        "UPDATE item SET pos = pos + 50; UPDATE item SET pos = pos - 51;",
        // A chain, of which a new row takes the first value.
        """
        UPDATE tag SET name = 'new' WHERE id = 'c'; UPDATE tag SET name = '3' WHERE id = 'b';
        UPDATE tag SET name = '2' WHERE id = 'a'; INSERT INTO tag (id, name) VALUES ('0', '1');
        """,
        // An index with an expression and a condition.
        """
        UPDATE slot SET gone = 1; UPDATE slot SET name = 'TWO', gone = 0 WHERE id = 'a';
        UPDATE slot SET name = 'ONE', gone = 0 WHERE id = 'b'; UPDATE slot SET gone = 0 WHERE id = 'c';
        """,
    ]

    /// Checks that devices have equal rows, and that nothing waits.
    private func check(_ devices: Device...) async throws {
        for device in devices {
            #expect(try await device.rows(Self.names) == devices[0].rows(Self.names))
            #expect(try await device.store.status.explanation == [])
            #expect(try await device.store.verify().differences == [])
            #expect(try await device.store.verify().hidden == [])
            #expect(try await device.store.journal() == [])
        }
    }

    @Test("They arrive, whichever rows come first", arguments: edits.indices)
    func exchanged(edit: Int) async throws {
        try await withTwoDevices(tables: Self.tables, schema: Self.schema) { phone, laptop, _ in
            try await phone.run(Self.rows)
            try await settle(phone, laptop)
            try await phone.run(Self.edits[edit])
            let expected = try await phone.rows(Self.names)
            try await phone.store.sync()
            try await laptop.store.sync()
            #expect(try await laptop.rows(Self.names) == expected)
            try await settle(phone, laptop)
            #expect(try await phone.rows(Self.names) == expected)
            try await check(phone, laptop)
        }
    }

    @Test(
        "Where they come in several fetches, the first ones wait for the rest, also after a restart",
        arguments: edits.indices
    )
    func split(edit: Int) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let holder = TransportHolder()
            var configuration = Device.configuration
            configuration.batchLimit = 1
            let phone = try await Device(
                cloud,
                user,
                tables: Self.tables,
                schema: Self.schema,
                configuration: configuration,
                transport: { holder.wrap($0) }
            )
            let laptop = try await Device(cloud, user, tables: Self.tables, schema: Self.schema)
            try await phone.run(Self.rows)
            try await settle(phone, laptop)
            try await phone.run(Self.edits[edit])
            let expected = try await phone.rows(Self.names)
            let current = Mutex(laptop)
            for _ in 0..<8 {
                holder.transport.before("records/modify") {
                    let device = current.withLock { $0 }
                    try await device.store.sync()
                    await device.store.stop()
                    let again = try await Device(
                        cloud,
                        user,
                        database: device.database,
                        tables: Self.tables
                    )
                    current.withLock { $0 = again }
                }
            }
            try await phone.store.sync()
            let last = current.withLock { $0 }
            try await last.store.sync()
            #expect(try await last.rows(Self.names) == expected)
            try await check(last, phone)
        }
    }

    @Test(
        "Edits of their other columns, made meanwhile, change nothing about it",
        arguments: [true, false]
    )
    func edited(isBefore: Bool) async throws {
        try await withTwoDevices(tables: Self.tables, schema: Self.schema) { phone, laptop, _ in
            try await phone.run(Self.rows)
            try await settle(phone, laptop)
            try await phone.run(Self.edits[0])
            try await phone.store.sync()
            if !isBefore { try await laptop.store.sync() }
            try await laptop.run("UPDATE tag SET colour = 'red'")
            try await laptop.store.sync()
            try await phone.store.sync()
            let names = "SELECT group_concat(id || name || colour) FROM tag WHERE id < 'c'"
            for device in [phone, laptop] {
                #expect(try await device.value(names) == "a2red,b1red")
            }
            try await check(phone, laptop)
        }
    }

    @Test(
        "A row that cannot have its value keeps waiting visibly, and a new row is not taken for its double"
    )
    func stuck() async throws {
        try await withTwoDevices(tables: Self.tables, schema: Self.schema) { phone, laptop, _ in
            try await phone.run(Self.rows)
            try await settle(phone, laptop)
            // Together: b has the value that a wants, and a the one of the new row.
            try await phone.run("UPDATE tag SET name = 'x' WHERE id = 'a'")
            try await phone.run("INSERT INTO tag (id, name) VALUES ('new', '1')")
            try await laptop.run("UPDATE tag SET name = 'x' WHERE id = 'b'")
            try await phone.store.sync()
            try await laptop.store.sync()
            try await laptop.run("UPDATE tag SET colour = 'red' WHERE id = 'a'")
            try await settle(laptop, phone)
            #expect(try await phone.value("SELECT count(*) FROM tag") == "5")
            #expect(try await laptop.value("SELECT count(*) FROM tag") == "4")
            for device in [phone, laptop] {
                #expect(try await device.store.journal() == [])
                #expect(try await !device.store.status.quarantined.isEmpty)
            }
            try await laptop.run("UPDATE tag SET name = 'y' WHERE id = 'b'")
            try await settle(laptop, phone)
            #expect(
                try await phone.value("SELECT group_concat(id || coalesce(name, '')) FROM tag")
                    == "ax,by,c3,d,new1"
            )
            try await check(phone, laptop)
        }
    }

    @Test("Edits that break a rule about two columns together are not forgotten by the next save")
    func rule() async throws {
        let schema = """
            CREATE TABLE range (id TEXT PRIMARY KEY NOT NULL, low INTEGER, high INTEGER, note TEXT,
                CHECK (low <= high))
            """
        try await withTwoDevices(tables: [.table("range")], schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO range VALUES ('r', 1, 10, NULL)")
            try await settle(phone, laptop)
            try await phone.run("UPDATE range SET low = 5")
            try await laptop.run("UPDATE range SET high = 3")
            try await settle(phone, laptop)
            for device in [phone, laptop] {
                try await device.run("UPDATE range SET note = 'n'")
                try await settle(phone, laptop)
                #expect(try await device.store.status.quarantined.map(\.key) == ["r"])
            }
            try await phone.run("UPDATE range SET high = 8")
            try await settle(phone, laptop)
            for device in [phone, laptop] {
                #expect(try await device.value("SELECT low || '-' || high FROM range") == "5-8")
                #expect(try await device.store.status.isSettled)
                #expect(try await device.store.verify().differences == [])
            }
        }
    }

    @Test("An index between whose rows the store does not decide is reported at the start")
    func undecided() async throws {
        let schema = """
            CREATE TABLE tag (id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT UNIQUE, draft TEXT);
            CREATE UNIQUE INDEX partial ON tag (a) WHERE b IS NULL;
            CREATE UNIQUE INDEX computed ON tag (lower(a));
            CREATE UNIQUE INDEX local ON tag (a, draft);
            """
        for (rule, names) in [
            (UniqueRule.firstWins, ["'computed'", "'local'", "'partial'"]), (.waits, []),
        ] {
            let warnings = Mutex<[String]>([])
            var configuration = Device.configuration
            configuration.onEvent = { event in
                if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
            }
            let settings = configuration
            try await CloudFixture.inProcess.run { cloud in
                _ = try await Device(
                    cloud,
                    cloud.addUser(),
                    tables: [.table("tag", uniqueness: rule, localOnly: ["draft"])],
                    schema: schema,
                    configuration: settings
                )
            }
            let found = warnings.withLock(\.self)
            #expect(found.count == names.count)
            for (text, name) in zip(found, names) {
                #expect(text.contains(name) && text.contains("uniqueness: .waits"))
            }
        }
    }
}
