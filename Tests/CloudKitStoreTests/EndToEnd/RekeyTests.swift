import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("Another key of another user's row", .timeLimit(.minutes(5)))
struct RekeyTests {
    typealias Friends = SharingTests.Friends

    private static let schema = """
        CREATE TABLE folder (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '', code TEXT UNIQUE,
            parent TEXT REFERENCES folder (id) ON DELETE CASCADE ON UPDATE CASCADE
        );
        CREATE TABLE note (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '',
            folder TEXT REFERENCES folder (id) ON DELETE CASCADE ON UPDATE CASCADE,
            origin TEXT REFERENCES note (id) ON DELETE SET NULL ON UPDATE CASCADE
        );
        CREATE TABLE tag (
            note TEXT NOT NULL REFERENCES note (id) ON DELETE CASCADE ON UPDATE CASCADE,
            name TEXT NOT NULL, PRIMARY KEY (note, name)
        );
        """

    private static let tables: [SyncedTable] = [.table("folder"), .table("note"), .table("tag")]

    /// Runs a test with 'sub' in the shared folder 'trip', with folders, notes and tags in it.
    private static func withFriends(
        _ body: @Sendable (Friends, _ phone: Device) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, tables: tables, schema: schema)
            try await friends.ada.run(
                """
                INSERT INTO folder VALUES ('trip', 'Trip', 'T', NULL), ('sub', 'Sub', NULL, 'trip'),
                    ('deep', 'Deep', NULL, 'sub');
                INSERT INTO note VALUES ('n', 'Tent', 'sub', NULL), ('m', 'Map', 'deep', 'n');
                INSERT INTO tag VALUES ('n', 'red');
                """
            )
            try await friends.ada.store.sync()
            try await friends.accept(friends.share(), friends.bob, friends.cleo)
            let phone = try await Device(
                cloud,
                friends.users[1],
                tables: tables,
                schema: schema,
                configuration: SharingTests.configuration
            )
            try await phone.store.sync()
            try await body(friends, phone)
        }
    }

    private static func shown(_ device: Device) async throws -> String {
        try await device.value(
            """
            SELECT group_concat(line, ' ') FROM (
                SELECT id || ':' || coalesce(parent, '') AS line FROM folder
                UNION SELECT id || ':' || coalesce(folder, '') || ':' || coalesce(origin, '') FROM note
                UNION SELECT note || ':' || name FROM tag ORDER BY line)
            """
        ) ?? ""
    }

    /// Bob's writes, with the rows that all have then.
    static let writes = [
        (
            "UPDATE folder SET id = 'new' WHERE id = 'sub'",
            "deep:new m:deep:n n:new: n:red new:trip trip:"
        ),
        (
            "UPDATE note SET id = 'new' WHERE id = 'n'",
            "deep:sub m:deep:new new:red new:sub: sub:trip trip:"
        ),
        (
            "UPDATE folder SET id = 'new', parent = 'trip' WHERE id = 'deep'",
            "m:new:n n:red n:sub: new:trip sub:trip trip:"
        ),
        // There and back, and twice.
        (
            """
            UPDATE folder SET id = 'new' WHERE id = 'sub'; UPDATE folder SET id = 'sub' WHERE id = 'new';
            UPDATE note SET id = 'one' WHERE id = 'n'; UPDATE note SET id = 'two' WHERE id = 'one'
            """,
            "deep:sub m:deep:two sub:trip trip: two:red two:sub:"
        ),
        // With rows below that were not sent.
        (
            """
            INSERT INTO folder VALUES ('own', 'Own', NULL, 'sub');
            INSERT INTO note VALUES ('o', 'Own', 'own', 'n');
            UPDATE folder SET id = 'new' WHERE id = 'sub'; UPDATE folder SET id = 'mine' WHERE id = 'own'
            """,
            "deep:new m:deep:n mine:new n:new: n:red new:trip o:mine:n trip:"
        ),
    ]

    @Test("A member gives it to a row with rows below, which follow it", arguments: writes)
    func follows(_ write: (sql: String, rows: String)) async throws {
        try await Self.withFriends { friends, phone in
            try await friends.bob.run(write.sql)
            #expect(try await Self.shown(friends.bob) == write.rows)
            try await settle(friends.bob, friends.ada, phone, friends.cleo)
            for device in [friends.ada, friends.bob, friends.cleo, phone] {
                #expect(try await Self.shown(device) == write.rows)
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
            for device in [friends.bob, friends.cleo, phone] {
                #expect(try await device.store.journal().isEmpty)
            }
            // The owner's device may have saved something that Bob had not seen under the old key.
            let journal = try await friends.ada.store.journal()
            #expect(Set(journal.map(\.rule)) == ["deletion"])
        }
    }

    @Test("An UPDATE that is ignored leaves its key to whoever uses it")
    func ignored() async throws {
        try await Self.withFriends { friends, _ in
            let (ada, bob) = (friends.ada, friends.bob)
            // SQLite looks for the code after the triggers have seen the key.
            try await bob.run(
                "UPDATE OR IGNORE folder SET id = 'new', code = 'T' WHERE id = 'sub'"
            )
            #expect(try await bob.value("SELECT name FROM folder WHERE id = 'sub'") == "Sub")
            try await bob.run("INSERT INTO folder VALUES ('new', 'Own', NULL, NULL)")
            try await settle(bob, ada)
            #expect(try await bob.value("SELECT name FROM folder WHERE id = 'new'") == "Own")
            #expect(try await ada.value("SELECT count(*) FROM folder") == "3")
            #expect(try await bob.cloud.record(for: Device.id("folder:new"))["name"] == "Own")
            try await bob.store.settled()
        }
    }

    @Test("A row that may only be read keeps its key, with the rows below it")
    func readOnly() async throws {
        try await Self.withFriends { friends, _ in
            let before = try await Self.shown(friends.cleo)
            let error = try await #require(throws: DatabaseError.self) {
                try await friends.cleo.run("UPDATE folder SET id = 'new' WHERE id = 'sub'")
            }
            #expect(error.message?.contains("shares it read-only") == true)
            #expect(try await Self.shown(friends.cleo) == before)
        }
    }
}
