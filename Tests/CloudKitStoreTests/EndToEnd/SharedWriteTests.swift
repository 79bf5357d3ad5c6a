import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("Rows of shared trees are written as others are", .timeLimit(.minutes(10)))
struct SharedWriteTests {
    typealias Friends = SharingTests.Friends

    /// Runs a test with two shared folders: one with rows in it, and an empty one.
    private static func withFriends(
        _ body: @Sendable (Friends) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud)
            try await friends.ada.run("INSERT INTO folder VALUES ('lone', 'Lone', NULL)")
            try await friends.begin()
            try await friends.accept(friends.share("lone"), friends.bob, friends.cleo)
            try await body(friends)
        }
    }

    /// The writes to a row, with the row that the owner then has.
    static let writes = [
        (
            "INSERT INTO folder (id, name) VALUES ('lone', 'New') "
                + "ON CONFLICT (id) DO UPDATE SET name = excluded.name", "folder lone New "
        ),
        (
            "INSERT INTO folder (id, name) VALUES ('sub', 'New') "
                + "ON CONFLICT (id) DO UPDATE SET name = excluded.name", "folder sub New trip"
        ),
        (
            "INSERT INTO note (id, title) VALUES ('n', 'New') "
                + "ON CONFLICT (id) DO UPDATE SET title = excluded.title", "note n New sub"
        ),
        (
            "INSERT INTO note (id, title, folder) VALUES ('n', 'New', 'sub') ON CONFLICT (id) "
                + "DO UPDATE SET title = excluded.title, folder = excluded.folder",
            "note n New sub"
        ),
        ("INSERT OR IGNORE INTO note (id, title) VALUES ('n', 'New')", "note n Tent sub"),
        ("INSERT OR IGNORE INTO folder (id, name) VALUES ('lone', 'New')", "folder lone Lone "),
        ("INSERT OR REPLACE INTO folder (id, name) VALUES ('lone', 'New')", "folder lone New "),
        (
            "INSERT OR REPLACE INTO note (id, title, folder) VALUES ('n', 'New', 'sub')",
            "note n New sub"
        ),
        (
            "INSERT OR REPLACE INTO note (id, title, folder) VALUES ('n', 'New', 'trip')",
            "note n New trip"
        ),
    ]

    private static func rows(_ device: Device) async throws -> [String] {
        try await device.database.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT 'folder ' || id || ' ' || name || ' ' || coalesce(parent, '') FROM folder
                    UNION SELECT 'note ' || id || ' ' || title || ' ' || coalesce(folder, '') FROM note
                        WHERE id <> 'x'
                    """
            )
        }
    }

    @Test(
        "An upsert or a replacement of a shared row arrives, the owner's and a participant's",
        arguments: writes,
        [true, false]
    )
    func upsert(_ write: (sql: String, row: String), _ isOwner: Bool) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let (writer, other) = isOwner ? (ada, bob) : (bob, ada)
            try await writer.run(write.sql)
            try await settle(writer, other, writer)
            #expect(try await Self.rows(ada).contains(write.row))
            #expect(try await Self.rows(bob) == Self.rows(ada))
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("A replacement of a row that may only be read is refused, or that takes one away")
    func refusals() async throws {
        try await Self.withFriends { friends in
            for (device, sql) in [
                (friends.cleo, "INSERT OR REPLACE INTO folder (id, name) VALUES ('lone', 'No')"),
                (
                    friends.cleo,
                    "INSERT OR REPLACE INTO note (id, title, folder) VALUES ('n', 'No', 'sub')"
                ),
                (
                    friends.cleo,
                    "INSERT INTO note (id, title) VALUES ('n', 'No') "
                        + "ON CONFLICT (id) DO UPDATE SET title = excluded.title"
                ),
                (friends.bob, "INSERT OR REPLACE INTO note (id, title) VALUES ('n', 'No')"),
            ] {
                let error = try await #require(throws: DatabaseError.self) {
                    try await device.run(sql)
                }
                #expect(error.resultCode == .SQLITE_CONSTRAINT)
            }
            // A write without changes is not refused.
            try await friends.cleo.run(
                "INSERT OR IGNORE INTO note (id, title, folder) VALUES ('n', 'No', 'sub')"
            )
            for device in [friends.bob, friends.cleo] {
                #expect(try await device.value("SELECT title FROM note WHERE id = 'n'") == "Tent")
                try await device.store.settled()
            }
        }
    }

    @Test(
        "A participant's replacement of the top of a share leaves it below what only its owner sees"
    )
    func replacedTop() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run(
                """
                INSERT INTO folder VALUES ('home', 'Home', NULL);
                UPDATE folder SET parent = 'home' WHERE id = 'lone';
                """
            )
            try await settle(ada, bob)
            try await bob.run("INSERT OR REPLACE INTO folder (id, name) VALUES ('lone', 'New')")
            try await settle(bob, ada)
            #expect(try await Self.rows(ada).contains("folder lone New home"))
            #expect(try await Self.rows(bob).contains("folder lone New "))
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test(
        "A participant's table that is rebuilt leaves the top of a share where its owner has it"
    )
    func recreatedTable() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run(
                """
                INSERT INTO folder VALUES ('home', 'Home', NULL);
                UPDATE folder SET parent = 'home' WHERE id = 'lone';
                """
            )
            try await settle(ada, bob)
            await bob.store.stop()
            try await bob.database.writeWithoutTransaction { database in
                try database.execute(
                    sql: """
                        PRAGMA foreign_keys = OFF;
                        CREATE TEMP TABLE kept AS SELECT * FROM folder;
                        DROP TABLE folder;
                        CREATE TABLE folder (
                            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '',
                            parent TEXT REFERENCES folder (id) ON DELETE CASCADE
                        );
                        INSERT INTO folder SELECT * FROM kept;
                        UPDATE folder SET name = 'New' WHERE id = 'lone';
                        PRAGMA foreign_keys = ON;
                        """
                )
            }
            let upgraded = try await Device(
                friends.cloud,
                friends.users[1],
                database: bob.database,
                configuration: SharingTests.configuration
            )
            try await settle(upgraded, ada)
            #expect(try await Self.rows(ada).contains("folder lone New home"))
            for device in [ada, upgraded] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test(
        "A row of a participant's own is not replaced by one below another user's row",
        arguments: [
            "INSERT OR REPLACE INTO note (id, title, folder) VALUES ('own', 'No', 'sub')",
            "DELETE FROM note WHERE id = 'own'; "
                + "INSERT INTO note (id, title, folder) VALUES ('own', 'No', 'sub')",
        ],
        [true, false]
    )
    func replacedOwn(_ sql: String, isSent: Bool) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("INSERT INTO note (id, title) VALUES ('own', 'Own')")
            if isSent { try await bob.store.sync() }
            let error = await #expect(throws: DatabaseError.self) { try await bob.run(sql) }
            #expect(error?.message?.contains("sync after that is deleted") == true)
            // These are no replacements.
            try await bob.run(
                """
                INSERT OR IGNORE INTO note (id, title, folder) VALUES ('own', 'No', 'sub');
                INSERT INTO note (id, title, folder) VALUES ('own', 'New', 'sub')
                    ON CONFLICT (id) DO UPDATE SET title = excluded.title;
                INSERT OR REPLACE INTO note (id, title, folder) VALUES ('own', 'Newer', NULL);
                """
            )
            try await settle(bob, ada)
            #expect(try await Self.rows(bob).contains("note own Newer "))
            #expect(try await ada.value("SELECT count(*) FROM note WHERE id = 'own'") == "0")
            try await bob.run("DELETE FROM note WHERE id = 'own'")
            try await bob.store.sync()
            try await bob.run(
                "INSERT INTO note (id, title, folder) VALUES ('own', 'Ada''s', 'sub')"
            )
            try await settle(bob, ada)
            #expect(try await Self.rows(ada).contains("note own Ada's sub"))
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test(
        "No change of a key takes that of a row which another user owns, or the other way round",
        arguments: [
            "DELETE FROM note WHERE id = 'n'; UPDATE note SET id = 'n' WHERE id = 'own'",
            "UPDATE note SET id = 'n2' WHERE id = 'n'; UPDATE note SET id = 'n' WHERE id = 'own'",
            "DELETE FROM note WHERE id = 'own'; UPDATE note SET id = 'own' WHERE id = 'n'",
            "UPDATE note SET id = 'own2' WHERE id = 'own'; UPDATE note SET id = 'own' WHERE id = 'n'",
            "UPDATE OR REPLACE note SET id = 'n' WHERE id = 'own'",
            "UPDATE OR REPLACE note SET id = 'own' WHERE id = 'n'",
        ]
    )
    func takenByUpdate(_ sql: String) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("INSERT INTO note (id, title) VALUES ('own', 'Own')")
            try await bob.store.sync()
            let error = await #expect(throws: DatabaseError.self) { try await bob.run(sql) }
            #expect(error?.message?.contains("sync after that is deleted") == true)
            // A row may have its own former key again.
            try await bob.run(
                """
                UPDATE note SET id = 'n2' WHERE id = 'n';
                UPDATE note SET id = 'n' WHERE id = 'n2';
                UPDATE note SET id = 'own2' WHERE id = 'own';
                UPDATE note SET id = 'own' WHERE id = 'own2';
                """
            )
            try await settle(bob, ada)
            #expect(try await Self.rows(ada).contains("note n Tent sub"))
            #expect(try await Self.rows(bob).contains("note own Own "))
            try await bob.run("DELETE FROM note WHERE id = 'own'")
            try await bob.store.sync()
            try await bob.run("UPDATE note SET id = 'own' WHERE id = 'n'")
            try await settle(bob, ada)
            #expect(try await Self.rows(ada).contains("note own Tent sub"))
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("What an own row lost is not restored into another user's row that has its key since")
    func restoringOwn() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await friends.device(of: 1)
            try await bob.run("INSERT INTO note (id, title) VALUES ('own', 'Own')")
            try await settle(bob, phone)
            try await bob.run("UPDATE note SET title = 'Earlier' WHERE id = 'own'")
            try await phone.run("UPDATE note SET title = 'Later' WHERE id = 'own'")
            try await settle(phone, bob, phone)
            let entry = try #require(try await bob.store.journal().last)
            #expect(entry.key == "own" && entry.lost == ["title": .text("Earlier")])
            try await bob.run("DELETE FROM note WHERE id = 'own'")
            try await bob.store.sync()
            try await ada.run("INSERT INTO note (id, title, folder) VALUES ('own', 'Hers', 'sub')")
            try await settle(ada, bob)
            let error = await #expect(throws: CloudStoreError.self) {
                try await bob.store.restore(entry)
            }
            #expect(error?.message.contains("set the entry's key") == true)
            try await settle(bob, ada)
            #expect(try await Self.rows(ada).contains("note own Hers sub"))
        }
    }

    @Test("A row whose move to where one may only read is refused can be written where it is")
    func refusedMove() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud)
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.begin()
            try await ada.run(
                "INSERT INTO folder VALUES ('lone', 'Lone', NULL), ('inner', 'Inner', 'trip')"
            )
            try await friends.accept(friends.share("lone", bob: .readOnly, cleo: nil), bob)
            try await settle(ada, bob)
            try await bob.run("UPDATE note SET folder = 'inner' WHERE id = 'n'")
            try await ada.run("UPDATE folder SET parent = 'lone' WHERE id = 'inner'")
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT folder FROM note WHERE id = 'n'") == "sub")
            #expect(try await bob.store.journal().map(\.rule) == ["access"])
            #expect(try await bob.store.canWrite("n", in: "note"))
            try await bob.run("UPDATE note SET title = 'Edited' WHERE id = 'n'")
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT title FROM note WHERE id = 'n'") == "Edited")
        }
    }

    @Test("What is new below a row that a participant takes out of a shared tree goes with it")
    func newBelowLeaving() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run(
                """
                INSERT INTO note (id, title, folder) VALUES ('early', 'Early', 'sub');
                UPDATE folder SET parent = NULL WHERE id = 'sub';
                INSERT INTO note (id, title, folder) VALUES ('late', 'Late', 'sub');
                """
            )
            try await settle(bob, ada)
            for row in ["note early Early sub", "note late Late sub", "folder sub Sub "] {
                #expect(try await Self.rows(ada).contains(row))
            }
            #expect(try await bob.value("SELECT count(*) FROM note") == "0")
            #expect(try await bob.store.journal().isEmpty)
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("A row is shared whose place is one that an older version left behind")
    func stalePlace() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud)
            try await friends.fill()
            try await friends.ada.run(
                """
                INSERT INTO grdb_cloudkit_place (tbl, key, zone, name, parent) VALUES
                    ('folder', 'trip', '', 'folder:trip', NULL),
                    ('folder', 'sub', '', 'folder:sub', 'folder:trip'),
                    ('note', 'n', '', 'note:n', 'folder:sub')
                """
            )
            try await friends.accept(friends.share("sub"), friends.bob)
            #expect(try await friends.bob.value("SELECT group_concat(id) FROM note") == "n")
            #expect(try await friends.ada.store.verify().differences == [])
            try await friends.ada.store.settled()
        }
    }

    @Test("A link of a row that nobody shares to another than the one above it is put right")
    func strayLink() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud)
            let ada = friends.ada
            try await friends.fill()
            let record = try await ada.cloud.record(for: Device.id("note:n"))
            record.parent = CKRecord.Reference(recordID: Device.id("folder:trip"), action: .none)
            _ = try await ada.cloud.save(record)
            try await ada.store.sync()
            let found = try await ada.store.verify(repairing: true).differences
            #expect(found.map(\.kind) == [.otherPlace])
            try await ada.store.sync()
            #expect(try await ada.store.verify().differences == [])
            #expect(try await ada.cloud.record(for: Device.id("note:n")).parent == nil)
            try await ada.store.settled()
        }
    }
}
