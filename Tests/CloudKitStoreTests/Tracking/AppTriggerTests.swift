import CloudKitStore
import GRDB
import Support
import Synchronization
import Testing

@Suite("Triggers of the app on synced tables", .timeLimit(.minutes(5)))
struct AppTriggerTests {
    private static let schema =
        Device.schema + """
            CREATE TABLE log (text TEXT);
            CREATE TRIGGER "shout it" AFTER UPDATE OF title ON note
                BEGIN UPDATE note SET title = NEW.title || '!' WHERE id = NEW.id; END;
            CREATE TRIGGER noted AFTER UPDATE ON note
                BEGIN INSERT INTO log SELECT NEW.title FROM note WHERE id = NEW.id; END;
            CREATE TRIGGER counted AFTER INSERT ON folder
                WHEN (SELECT applying FROM grdb_cloudkit_control) = 0
                BEGIN UPDATE OR REPLACE folder SET name = name || '#' WHERE id = NEW.id; END;
            """

    private static func tables(suspends: Set<String>) -> [SyncedTable] {
        [
            .table("folder"),
            .table(
                "note",
                localOnly: ["draft"],
                forms: ["tags": .list],
                suspendsTriggers: suspends
            ),
        ]
    }

    private func withDevices(
        suspends: Set<String>,
        _ body: @Sendable (Device, Device, [String]) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let warnings = Mutex<[String]>([])
            var configuration = Device.configuration
            configuration.onEvent = { event in
                if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
            }
            let tables = Self.tables(suspends: suspends)
            let phone = try await Device(
                cloud,
                user,
                tables: tables,
                schema: Self.schema,
                configuration: configuration
            )
            let laptop = try await Device(cloud, user, tables: tables, schema: Self.schema)
            try await body(phone, laptop, warnings.withLock { $0 })
        }
    }

    @Test("A trigger that writes into a synced table is reported at the start, with the remedy")
    func warning() async throws {
        try await withDevices(suspends: []) { _, _, warnings in
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains("'shout it' of the table 'note'") == true)
            #expect(
                warnings.first?.contains("WHEN (SELECT applying FROM grdb_cloudkit_control) = 0")
                    == true
            )
        }
    }

    @Test("One that writes no more than columns that never leave the device is not reported")
    func localColumns() async throws {
        let schema = """
            CREATE TABLE part (id TEXT PRIMARY KEY NOT NULL, name TEXT, seen TEXT, "at all" INTEGER);
            CREATE TRIGGER one AFTER UPDATE OF name ON part BEGIN
                UPDATE part SET seen = (SELECT NEW.name), "at all" = coalesce("at all", 0) + 1
                    WHERE id = NEW.id AND name = NEW.name;
            END;
            CREATE TRIGGER two AFTER INSERT ON part
                BEGIN UPDATE part SET (seen, "at all") = (SELECT NEW.name, 2) WHERE id = NEW.id; END;
            CREATE TRIGGER three AFTER INSERT ON part
                BEGIN UPDATE part SET seen = 'x', Name = upper(NEW.name) WHERE id = NEW.id; END;
            CREATE TRIGGER four AFTER INSERT ON part
                BEGIN UPDATE part SET (seen, name) = ('x', 'y'); END;
            """
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
                tables: [.table("part", localOnly: ["seen", "at all"])],
                schema: schema,
                configuration: settings
            )
        }
        let names = warnings.withLock(\.self)
            .map { text in ["'one'", "'two'", "'three'", "'four'"].filter(text.contains) }
        #expect(names == [["'four'"], ["'three'"]])
    }

    @Test("It is reported by way of other tables too, whatever the names are, and if it skips rows")
    func hiddenWarnings() async throws {
        let schema = """
            CREATE TABLE [a "note"] (id TEXT PRIMARY KEY NOT NULL, title TEXT);
            CREATE TABLE tag (id TEXT PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE "the log" (text TEXT);
            CREATE TABLE counts (number INTEGER);
            CREATE TRIGGER quoted AFTER UPDATE ON tag
                BEGIN INSERT OR IGNORE INTO [a "note"] (id) VALUES (NEW.id); END;
            CREATE TRIGGER first AFTER INSERT ON `a "note"`
                BEGIN /* update tag */ INSERT INTO "the log" SELECT 'UPDATE tag' FROM tag; END;
            CREATE TRIGGER second AFTER INSERT ON "the log"
                BEGIN UPDATE counts SET number = number + 1; END;
            CREATE TRIGGER third AFTER UPDATE ON counts
                BEGIN DELETE FROM tag WHERE name = ''; END;
            CREATE TRIGGER skipping BEFORE INSERT ON tag WHEN NEW.name = 'x'
                BEGIN SELECT RAISE(IGNORE); END;
            CREATE TRIGGER harmless AFTER DELETE ON tag
                BEGIN INSERT INTO counts VALUES (1) ON CONFLICT DO UPDATE SET number = 1; END;
            """
        try await CloudFixture.inProcess.run { cloud in
            let warnings = Mutex<[String]>([])
            var configuration = Device.configuration
            configuration.onEvent = { event in
                if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
            }
            _ = try await Device(
                cloud,
                cloud.addUser(),
                tables: [.table("a \"note\"", recordType: "Note"), .table("tag")],
                schema: schema,
                configuration: configuration
            )
            let expected = [
                "'first' of the table 'a \"note\"' writes into 'tag' by way of 'the log' by way of 'counts'",
                "'harmless' of the table 'tag' writes into 'tag' by way of 'counts' also when",
                "'quoted' of the table 'tag' writes into 'a \"note\"' also when",
                "'skipping' of the table 'tag' skips rows, by RAISE(IGNORE), also when",
            ]
            let found = warnings.withLock(\.self)
            #expect(found.count == expected.count)
            for (warning, part) in zip(found, expected) {
                #expect(warning.contains(part))
            }
        }
    }

    @Test("A suspended trigger runs where the user writes and nowhere else")
    func suspended() async throws {
        try await withDevices(suspends: ["shout it"]) { phone, laptop, warnings in
            #expect(warnings == [])
            try await phone.run("INSERT INTO folder (id, name) VALUES ('f', 'x')")
            try await phone.run("INSERT INTO note (id, title, folder) VALUES ('n', 'x', 'f')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET title = 'y'")
            try await settle(phone, laptop)
            try await laptop.run("UPDATE note SET title = 'z'")
            try await settle(laptop, phone)
            for device in [phone, laptop] {
                #expect(try await device.value("SELECT title FROM note") == "z!")
                #expect(try await device.value("SELECT name FROM folder") == "x#")
                #expect(try await device.store.verify().differences == [])
                #expect(
                    try await device.value(
                        "SELECT count(*) FROM sqlite_master WHERE name = 'shout it'"
                    ) == "1"
                )
            }
        }
    }

    @Test("A trigger that is not there is a mistake with its name")
    func missing() async throws {
        let error = await #expect(throws: CloudStoreError.self) {
            try await withDevices(suspends: ["whisper"]) { _, _, _ in }
        }
        #expect(error?.code == .noSuchTrigger)
        #expect(error?.message.contains("'whisper'") == true)
        #expect(error?.message.contains("noted, shout it") == true)
    }
}
