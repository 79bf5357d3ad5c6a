import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("Migrations of tables whose rows are shared", .timeLimit(.minutes(10)))
struct SharedMigrationTests {
    /// A migration, and the names that it leaves.
    struct Migration: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var sql: String
        /// The tables whose triggers would block it.
        var freed: [String] = []
        var tables = Device.notes
        var note = "note"
        var title = "title"
        var folder = "folder"
    }

    private static let newNote = """
        CREATE TABLE newNote (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT,
            count INTEGER NOT NULL DEFAULT 0, tags TEXT, draft TEXT,
            folder TEXT REFERENCES folder (id) ON DELETE CASCADE
        );
        INSERT INTO newNote (id, title, body, count, tags, folder, draft)
            SELECT id, title, body, count, tags, folder, draft FROM note;
        DROP TABLE note;
        ALTER TABLE newNote RENAME TO note;

        """

    private static let migrations = [
        Migration(
            testDescription: "renames tables",
            sql: "ALTER TABLE note RENAME TO memo; ALTER TABLE folder RENAME TO album",
            tables: [
                .table("album", recordType: "folder"),
                .table(
                    "memo",
                    recordType: "note",
                    fieldRules: ["count": .counter, "tags": .set],
                    localOnly: ["draft"],
                    forms: ["tags": .list]
                ),
            ],
            note: "memo"
        ),
        Migration(
            testDescription: "renames columns",
            sql: """
                ALTER TABLE note RENAME COLUMN title TO heading;
                ALTER TABLE note RENAME COLUMN folder TO album;
                ALTER TABLE folder RENAME COLUMN parent TO above;
                """,
            tables: [
                .table("folder", fields: ["above": "parent"]),
                .table(
                    "note",
                    fieldRules: ["count": .counter, "tags": .set],
                    localOnly: ["draft"],
                    forms: ["tags": .list],
                    fields: ["heading": "title", "album": "folder"]
                ),
            ],
            title: "heading",
            folder: "album"
        ),
        Migration(
            testDescription: "replaces tables",
            sql: newNote + """
                CREATE TABLE newFolder (
                    id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT 'New',
                    parent TEXT REFERENCES folder (id) ON DELETE CASCADE
                );
                INSERT INTO newFolder SELECT id, name, parent FROM folder;
                DROP TABLE folder;
                ALTER TABLE newFolder RENAME TO folder;
                """,
            freed: ["note", "folder"]
        ),
        // The triggers of the folders name the notes.
        Migration(testDescription: "replaces one table", sql: newNote, freed: ["note"]),
        Migration(
            testDescription: "drops a column",
            sql: "ALTER TABLE note DROP COLUMN body",
            freed: ["note"]
        ),
    ]

    private static func migrate(_ database: DatabaseQueue, _ migration: Migration) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration(migration.testDescription) { database in
            for table in migration.freed { try database.removeSyncTriggers(from: table) }
            try database.execute(sql: migration.sql)
        }
        try migrator.migrate(database)
    }

    /// Runs a test with Ada, Bob and Cleo, one of whom migrates a file with shared rows.
    private static func migrate(
        _ user: Int,
        _ migration: Migration,
        _ body: @Sendable (_ devices: [Device]) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await SharingTests.Friends(cloud)
            try await friends.begin()
            try await settle(friends.ada, friends.bob, friends.cleo)
            var devices = [friends.ada, friends.bob, friends.cleo]
            await devices[user].store.stop()
            try migrate(devices[user].database, migration)
            devices[user] = try await Device(
                cloud,
                friends.users[user],
                database: devices[user].database,
                tables: migration.tables,
                configuration: SharingTests.configuration
            )
            #expect(try await devices[user].store.status.waitingToSend == 0)
            try await body(devices)
        }
    }

    @Test(
        "The owner and the participants share as before",
        arguments: migrations,
        ["Ada", "Bob", "Cleo"]
    )
    func sharing(_ migration: Migration, _ name: String) async throws {
        let user = ["Ada", "Bob", "Cleo"].firstIndex(of: name) ?? 0
        try await Self.migrate(user, migration) { devices in
            let new = devices[user]
            let (note, title, folder) = (migration.note, migration.title, migration.folder)
            let edits = [
                "UPDATE \(note) SET \(title) = 'Mine' WHERE id = 'n'",
                "INSERT INTO \(note) (id, \(title), \(folder)) VALUES ('new', 'New', 'sub')",
            ]
            for sql in edits {
                if name == "Cleo" {
                    await #expect(throws: DatabaseError.self) { try await new.run(sql) }
                } else {
                    try await new.run(sql)
                }
            }
            // A row that its owner never had becomes the user's own.
            if name == "Bob" {
                try await new.run(
                    """
                    INSERT INTO \(note) (id, \(title), \(folder)) VALUES ('own', 'Own', 'sub');
                    UPDATE \(note) SET \(folder) = NULL WHERE id = 'own';
                    """
                )
            }
            let other = devices[name == "Ada" ? 1 : 0]
            try await other.run(
                """
                UPDATE folder SET name = 'Other' WHERE id = 'sub';
                INSERT INTO note (id, title, folder) VALUES ('other', 'Other', 'trip');
                """
            )
            for _ in 0..<3 { for device in devices { try await device.store.sync() } }
            for (place, device) in devices.enumerated() {
                let isNew = place == user
                let names = isNew ? (note, title, folder) : ("note", "title", "folder")
                let rows = try await device.value(
                    """
                    SELECT group_concat(id || ' ' || \(names.1) || ' ' || \(names.2))
                    FROM (SELECT * FROM \(names.0) WHERE \(names.2) IS NOT NULL ORDER BY id)
                    """
                )
                #expect(
                    rows
                        == (name == "Cleo"
                            ? "n Tent sub,other Other trip"
                            : "n Mine sub,new New sub,other Other trip")
                )
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.journal() == [])
                try await device.store.settled()
            }
        }
    }

    @Test("A migration that drops a table may write into the others", arguments: 0...1)
    func dropping(_ user: Int) async throws {
        let migration = Migration(
            testDescription: "drops a table",
            sql: "DROP TABLE note; UPDATE folder SET name = 'Migrated' WHERE id = 'sub'",
            freed: ["note"],
            tables: [.table("folder")]
        )
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await SharingTests.Friends(cloud)
            try await friends.begin()
            let devices = [friends.ada, friends.bob]
            await devices[user].store.stop()
            try Self.migrate(devices[user].database, migration)
            let new = try await Device(
                cloud,
                friends.users[user],
                database: devices[user].database,
                tables: migration.tables,
                configuration: SharingTests.configuration
            )
            let other = devices[1 - user]
            try await settle(new, other)
            let name = "SELECT name FROM folder WHERE id = 'sub'"
            #expect(try await other.value(name) == "Migrated")
            #expect(try await other.value("SELECT title FROM note WHERE id = 'n'") == "Tent")
            #expect(try await new.store.verify().differences == [])
        }
    }
}
