import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Synchronization
import Testing

/// Each test has a device with an old version of the app and one with the new one, at the same
/// time, as in the guide's chapter on migrations.
@Suite("An old and a new version of an app side by side", .timeLimit(.minutes(5)))
struct AppVersionTests {
    /// A version of an app: its additional migrations, and its tables.
    struct Version {
        var migration: String
        /// The tables whose triggers would block the migration.
        var freed: [String] = []
        var tables: [SyncedTable]
        var onEvent: @Sendable (StoreEvent) -> Void = { _ in }
        var journal = CloudStore.Configuration.JournalScope.local
    }

    private static let old = Version(
        migration: """
            CREATE TABLE label (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '');
            CREATE TABLE person (
                id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '', street TEXT, price REAL,
                label TEXT REFERENCES label (id) ON DELETE SET NULL
            );
            """,
        tables: [.table("label"), .table("person")]
    )

    private static let rows =
        "INSERT INTO person (id, name, street, price) VALUES ('p', 'Ada', 'Dock', 1.5)"

    /// Runs a test with two devices that have the old version and rows; one gets the new version.
    private func upgrade(
        _ old: Version = Self.old,
        to new: Version,
        rows: String = Self.rows,
        _ body: @Sendable (_ old: Device, _ new: Device) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            func open(_ database: DatabaseQueue, _ version: Version) async throws -> Device {
                var configuration = Device.configuration
                configuration.onEvent = version.onEvent
                configuration.journal = version.journal
                return try await Device(
                    cloud,
                    user,
                    database: database,
                    tables: version.tables,
                    configuration: configuration
                )
            }
            func file() throws -> DatabaseQueue {
                let file = try DatabaseQueue()
                try file.write { try $0.execute(sql: old.migration) }
                return file
            }
            let files = try [file(), file()]
            let device = try await open(files[0], old)
            let before = try await open(files[1], old)
            try await device.run(rows)
            try await settle(device, before)
            await before.store.stop()
            try await files[1].write { database in
                for table in new.freed { try database.removeSyncTriggers(from: table) }
                try database.execute(sql: new.migration)
            }
            let upgraded = try await open(files[1], new)
            try await body(device, upgraded)
        }
    }

    @Test("A new column with a default loses nothing, also where the old version writes")
    func newColumn() async throws {
        let new = Version(
            migration: "ALTER TABLE person ADD COLUMN stars INTEGER NOT NULL DEFAULT 3",
            tables: Self.old.tables
        )
        try await upgrade(to: new) { old, upgraded in
            // The defaults of existing rows are not sent.
            #expect(try await upgraded.store.status.waitingToSend == 0)
            try await old.run("INSERT INTO person (id, name) VALUES ('q', 'Grace')")
            try await upgraded.run("UPDATE person SET stars = 5 WHERE id = 'p'")
            try await settle(old, upgraded)
            #expect(
                try await upgraded.value("SELECT group_concat(id || stars) FROM person") == "p5,q3"
            )
            try await old.run("UPDATE person SET name = 'Ada L.' WHERE id = 'p'")
            try await settle(old, upgraded)
            #expect(try await upgraded.value("SELECT name || stars FROM person") == "Ada L.5")
            // The old device is upgraded later, with the default in its row: the written value stays.
            await old.store.stop()
            try await old.database.write { try $0.execute(sql: new.migration) }
            let later = try CloudStore(
                database: old.database,
                container: old.container,
                tables: new.tables,
                configuration: Device.configuration
            )
            try await later.sync()
            try await upgraded.store.sync()
            for device in [old, upgraded] {
                #expect(
                    try await device.value("SELECT group_concat(id || stars) FROM person")
                        == "p5,q3"
                )
            }
            #expect(try await later.verify().differences == [])
        }
    }

    @Test("An edit past the triggers is a difference, also of a column that no record has yet")
    func unnotedDefault() async throws {
        let new = Version(
            migration: """
                ALTER TABLE person ADD COLUMN stars INTEGER NOT NULL DEFAULT 3;
                ALTER TABLE person ADD COLUMN mood TEXT DEFAULT 'calm';
                """,
            tables: Self.old.tables
        )
        try await upgrade(to: new) { old, upgraded in
            #expect(try await upgraded.store.verify().differences == [])
            for edit in ["stars = 4", "mood = NULL"] {
                try await upgraded.database.write { database in
                    try database.execute(
                        sql: """
                            UPDATE grdb_cloudkit_control SET applying = 1;
                            UPDATE person SET \(edit);
                            UPDATE grdb_cloudkit_control SET applying = 0;
                            """
                    )
                }
                let found = try await upgraded.store.verify(repairing: true).differences
                #expect(found.map(\.kind) == [.unnotedEdit])
                try await settle(upgraded, old)
                #expect(try await upgraded.store.verify().differences == [])
            }
            #expect(
                try await upgraded.value("SELECT stars || coalesce(mood, '-') FROM person") == "4-"
            )
            #expect(
                try await upgraded.store.record(of: "p", in: "person")["stars"] as Int64? == 4
            )
        }
    }

    @Test("A late upgrade with a default overrules nothing that others wrote")
    func defaultAndEdit() async throws {
        let new = Version(
            migration: "ALTER TABLE person ADD COLUMN stars INTEGER NOT NULL DEFAULT 3",
            tables: Self.old.tables
        )
        try await upgrade(to: new) { old, upgraded in
            try await upgraded.run("UPDATE person SET stars = 5 WHERE id = 'p'")
            try await upgraded.store.sync()
            await old.store.stop()
            try await old.database.write {
                try $0.execute(sql: new.migration + "; UPDATE person SET stars = 4")
            }
            let later = try CloudStore(
                database: old.database,
                container: old.container,
                tables: new.tables,
                configuration: Device.configuration
            )
            try await later.sync()
            try await upgraded.store.sync()
            #expect(try await old.value("SELECT stars FROM person") == "5")
            #expect(try await upgraded.value("SELECT stars FROM person") == "5")
        }
    }

    @Test("Rows that a late UNIQUE index would not allow are reported before it is made")
    func collidingRows() throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE label (id TEXT PRIMARY KEY NOT NULL, name TEXT COLLATE NOCASE);
                    CREATE TABLE pair (one INTEGER, two UUID, name TEXT, PRIMARY KEY (one, two));
                    INSERT INTO label VALUES ('a', 'home'), ('b', 'Home'), ('c', 'work'), ('d', NULL),
                        ('e', NULL);
                    INSERT INTO pair VALUES (1, x'AB', 'n'), (2, x'CD', 'n');
                    """
            )
            #expect(try database.collidingRows(in: "label", on: ["name"]) == [["a", "b"]])
            #expect(try database.collidingRows(in: "label", on: ["id"]) == [])
            #expect(
                try database.collidingRows(in: "pair", on: ["name"])
                    == [["[1,\"AB\"]", "[2,\"CD\"]"]]
            )
        }
    }

    @Test("Where the table says so, a late UNIQUE index deletes no row that an old version inserts")
    func uniqueWaits() async throws {
        let new = Version(
            migration: "CREATE UNIQUE INDEX label_name ON label (name)",
            tables: [.table("label", uniqueness: .waits), .table("person")]
        )
        let rows = "INSERT INTO label VALUES ('a', 'home')"
        try await upgrade(to: new, rows: rows) { old, upgraded in
            try await old.run(
                """
                INSERT INTO label VALUES ('b', 'home');
                INSERT INTO person (id, label) VALUES ('p', 'b');
                """
            )
            try await settle(old, upgraded)
            #expect(try await old.value("SELECT group_concat(id) FROM label") == "a,b")
            #expect(try await upgraded.value("SELECT group_concat(id) FROM label") == "a")
            let status = try await upgraded.store.status
            #expect(status.quarantined.map(\.key) == ["b"])
            #expect(status.explanation.contains { $0.contains("'name' in the table 'label'") })
            #expect(try await upgraded.store.journal() == [])
            // The user decides, and the other row arrives.
            try await upgraded.run("UPDATE label SET name = 'house' WHERE id = 'a'")
            try await settle(upgraded, old)
            #expect(try await upgraded.value("SELECT group_concat(id) FROM label") == "a,b")
            #expect(try await upgraded.value("SELECT label FROM person") == "b")
            #expect(try await upgraded.store.status.isSettled)
        }
    }

    @Test("Where a row gives way to another, the app is notified, and the row is in the journal")
    func uniqueGivesWay() async throws {
        let events = Mutex<[String]>([])
        let new = Version(
            migration: "CREATE UNIQUE INDEX label_name ON label (name)",
            tables: Self.old.tables
        ) { event in
            if case .replacedByDuplicate(let table, let key) = event {
                events.withLock { $0.append("\(table) \(key)") }
            }
        }
        let rows = "INSERT INTO label VALUES ('a', 'home')"
        try await upgrade(to: new, rows: rows) { old, upgraded in
            try await old.run("INSERT INTO label VALUES ('b', 'home')")
            try await settle(old, upgraded)
            #expect(events.withLock(\.self) == ["label b"])
            #expect(try await upgraded.store.journal().map(\.rule) == ["unique"])
            #expect(try await old.value("SELECT group_concat(id) FROM label") == "a")
        }
    }

    @Test(
        "With a shared journal the user of the old version sees which row gave way, and brings it back"
    )
    func uniqueInSharedJournal() async throws {
        var old = Self.old
        old.journal = .shared
        var new = old
        new.migration = "CREATE UNIQUE INDEX label_name ON label (name)"
        let rows = "INSERT INTO label VALUES ('a', 'home')"
        try await upgrade(old, to: new, rows: rows) { old, upgraded in
            try await old.run("INSERT INTO label VALUES ('b', 'home')")
            try await settle(old, upgraded)
            #expect(try await old.value("SELECT group_concat(id) FROM label") == "a")
            let entry = try #require(try await old.store.journal(of: "label", key: "b").first)
            #expect(entry.rule == "unique")
            #expect(entry.device != nil)
            #expect(entry.lost["name"] == .text("home"))
            try await old.database.write { database in
                try database.execute(sql: "UPDATE label SET name = 'house' WHERE id = 'a'")
            }
            try await old.store.restore(entry)
            try await settle(old, upgraded)
            for device in [old, upgraded] {
                #expect(
                    try await device.value("SELECT group_concat(id || name) FROM label")
                        == "ahouse,bhome"
                )
            }
        }
    }

    @Test("A renamed column keeps its field, and a renamed table its record type")
    func renaming() async throws {
        let new = Version(
            migration: """
                ALTER TABLE person RENAME COLUMN name TO fullName;
                ALTER TABLE person RENAME TO contact;
                """,
            tables: [
                .table("label"),
                .table("contact", recordType: "person", fields: ["fullName": "name"]),
            ]
        )
        try await upgrade(to: new) { old, upgraded in
            #expect(try await upgraded.store.status.waitingToSend == 0)
            try await old.run("UPDATE person SET street = 'Pier'")
            try await upgraded.run("UPDATE contact SET fullName = 'Ada L.'")
            try await upgraded.run("INSERT INTO contact (id, fullName) VALUES ('q', 'Grace')")
            try await settle(old, upgraded)
            for (device, sql) in [
                (old, "SELECT group_concat(name || coalesce(street, '')) FROM person"),
                (upgraded, "SELECT group_concat(fullName || coalesce(street, '')) FROM contact"),
            ] {
                #expect(try await device.value(sql) == "Ada L.Pier,Grace")
            }
            #expect(try await upgraded.store.verify().differences == [])
            #expect(try await upgraded.store.journal() == [])
        }
    }

    @Test("A table that is split on several devices has one row for each of before")
    func splitting() async throws {
        let new = Version(
            migration: """
                CREATE TABLE address (
                    id TEXT PRIMARY KEY NOT NULL REFERENCES person (id) ON DELETE CASCADE, street TEXT
                );
                INSERT INTO address SELECT id, street FROM person WHERE street IS NOT NULL;
                """,
            tables: Self.old.tables + [.table("address")]
        )
        try await upgrade(to: new) { old, upgraded in
            try await upgraded.run("UPDATE address SET street = 'Pier'")
            try await settle(upgraded, old)
            #expect(try await old.value("SELECT street FROM person") == "Dock")
            // The other device splits its table too.
            await old.store.stop()
            try await old.database.write { try $0.execute(sql: new.migration) }
            let later = try CloudStore(
                database: old.database,
                container: old.container,
                tables: new.tables,
                configuration: Device.configuration
            )
            try await later.sync()
            try await upgraded.store.sync()
            for device in [old, upgraded] {
                #expect(try await device.value("SELECT id || street FROM address") == "pPier")
            }
        }
    }

    @Test("A dropped column stays for the old version, whatever the new one edits")
    func dropping() async throws {
        let new = Version(
            migration: "ALTER TABLE person DROP COLUMN street",
            freed: ["person"],
            tables: Self.old.tables
        )
        try await upgrade(to: new) { old, upgraded in
            try await upgraded.run("UPDATE person SET name = 'Ada L.'")
            try await old.run("UPDATE person SET street = 'Pier'")
            try await settle(upgraded, old)
            #expect(try await old.value("SELECT name || street FROM person") == "Ada L.Pier")
            #expect(try await upgraded.store.verify().differences == [])
        }
    }

    @Test("A column of another type is a column of another name, filled by the migration")
    func types() async throws {
        let new = Version(
            migration: """
                ALTER TABLE person ADD COLUMN cents INTEGER;
                UPDATE person SET cents = round(price * 100);
                """,
            tables: Self.old.tables
        )
        try await upgrade(to: new) { old, upgraded in
            try await settle(upgraded, old)
            #expect(
                try await upgraded.store.record(of: "p", in: "person")["cents"] as Int64? == 150
            )
            try await old.run("UPDATE person SET price = 2")
            try await settle(old, upgraded)
            let both = try await upgraded.value("SELECT price || ' ' || cents FROM person")
            #expect(both == "2.0 150")
        }
    }
}
