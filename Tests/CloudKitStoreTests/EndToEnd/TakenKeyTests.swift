import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("Users give the same key to their rows", .timeLimit(.minutes(10)))
struct TakenKeyTests {
    typealias Friends = SharingTests.Friends

    /// A schema in which everything below a folder is deleted with it.
    static let schema = Device.schema.replacing("SET NULL", with: "CASCADE")

    /// Runs a test with a folder that Ada shares, which has the key of a folder of Bob's.
    private static func withFriends(
        bob permission: CKShare.ParticipantPermission = .readWrite,
        _ body: @Sendable (Friends) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: schema)
            try await friends.ada.run(
                """
                INSERT INTO folder VALUES ('food', 'Ada''s', NULL), ('sub', 'Sub', 'food');
                INSERT INTO note (id, title, folder) VALUES ('milk', 'Milk', 'food'), ('egg', 'Egg', 'sub');
                """
            )
            try await friends.ada.store.sync()
            try await friends.bob.run(
                """
                INSERT INTO folder VALUES ('food', 'Bob''s', NULL);
                INSERT INTO note (id, title, folder) VALUES ('beer', 'Beer', 'food');
                """
            )
            try await friends.bob.store.sync()
            try await friends.accept(friends.share("food", bob: permission, cleo: nil), friends.bob)
            try await settle(friends.bob)
            try await body(friends)
        }
    }

    private static func keys(_ device: Device) async throws -> String? {
        try await device.value(
            """
            SELECT group_concat(id || ' ' || coalesce(above, '')) FROM (
                SELECT id, parent AS above FROM folder UNION SELECT id, folder FROM note ORDER BY id)
            """
        )
    }

    private static let rekeying = """
        PRAGMA defer_foreign_keys = 1;
        UPDATE folder SET id = 'drinks'; UPDATE note SET folder = 'drinks'
        """

    private static let everything = "egg sub,food ,milk food,sub food"

    @Test("The rows below a shared row whose key is taken wait with it")
    func waiting() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            #expect(try await Self.keys(bob) == "beer food,food ")
            // So do those that come later, or are moved.
            try await ada.run(
                """
                INSERT INTO note (id, folder) VALUES ('late', 'sub');
                UPDATE note SET folder = 'food' WHERE id = 'egg';
                """
            )
            try await settle(ada, bob)
            // A write of the own row does not bring them.
            try await bob.run("UPDATE folder SET name = 'Mine'")
            try await settle(bob, ada)
            #expect(try await Self.keys(bob) == "beer food,food ")
            #expect(try await ada.value("SELECT name FROM folder WHERE id = 'food'") == "Ada's")
            let status = try await bob.store.status
            #expect(status.waitingForParents == 4 && status.inaccessibleReferenceCount == 0)
            #expect(status.quarantined.map { $0.reason.contains("leave(_:in:)") } == [true])
            // What is below it names it, and that it is here.
            let below = status.waitingRows.filter { $0.recordName == "folder:food" }
            #expect(below.map(\.isTargetQuarantined) == below.map { _ in true } && !below.isEmpty)
            #expect(
                status.explanation.contains {
                    $0.contains("waits for the record 'folder:food', which is quarantined")
                }
            )
            let found = try await bob.store.verify()
            #expect(found.differences == [])
            #expect(found.hidden.map(\.recordName).contains("folder:food"))
            #expect(found.hidden.count == 5)
        }
    }

    @Test(
        "No row gets the key of one that waits, whose record it would overwrite",
        arguments: [
            "UPDATE note SET id = 'milk' WHERE id = 'own'",
            "UPDATE note SET id = 'milk' WHERE id = 'beer'",
            "INSERT INTO note (id, title) VALUES ('milk', 'Bob''s')",
            "INSERT INTO note (id, title, folder) VALUES ('milk', 'Bob''s', 'food')",
            "INSERT OR REPLACE INTO note (id, title) VALUES ('milk', 'Bob''s')",
            "UPDATE note SET id = 'milk' WHERE id = 'theirs'",
            "INSERT INTO note (id, title, folder) VALUES ('milk', 'Bob''s', 'shown')",
        ]
    )
    func waitingKeys(_ sql: String) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run(
                """
                INSERT INTO folder VALUES ('shown', 'Shown', NULL);
                INSERT INTO note (id, title, folder) VALUES ('theirs', 'Theirs', 'shown');
                """
            )
            try await ada.store.sync()
            try await friends.accept(friends.share("shown", bob: .readWrite, cleo: nil), bob)
            try await bob.run("INSERT INTO note (id, title) VALUES ('own', 'Own')")
            try await settle(bob)
            let error = await #expect(throws: DatabaseError.self) { try await bob.run(sql) }
            #expect(error?.message?.contains("that another user shares and that waits") == true)
            // The key that a row had before is free for it.
            try await bob.run(
                """
                UPDATE note SET id = 'other' WHERE id = 'theirs';
                UPDATE note SET id = 'theirs' WHERE id = 'other';
                """
            )
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT title FROM note WHERE id = 'milk'") == "Milk")
            #expect(try await ada.value("SELECT title FROM note WHERE id = 'theirs'") == "Theirs")
        }
    }

    @Test(
        "They come when the own row is deleted, or has another key",
        arguments: [
            ("DELETE FROM folder", everything),
            (
                rekeying,
                "beer drinks,drinks ," + everything
            ),
        ],
        [CKShare.ParticipantPermission.readWrite, .readOnly]
    )
    func resolved(
        _ way: (sql: String, keys: String),
        _ permission: CKShare.ParticipantPermission
    ) async throws {
        try await Self.withFriends(bob: permission) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run(way.sql)
            try await bob.store.sync()
            #expect(try await Self.keys(bob) == way.keys)
            for (key, table) in [("food", "folder"), ("egg", "note")] {
                #expect(
                    try await bob.store.canWrite(key, in: table) == (permission == .readWrite)
                )
            }
            try await settle(bob, ada)
            #expect(try await Self.keys(ada) == Self.everything)
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("Leaving the share ends the wait, and leaves the own row alone")
    func left() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.store.leave("food", in: "folder")
            try await settle(bob, ada)
            #expect(try await Self.keys(bob) == "beer food,food ")
            #expect(try await Self.keys(ada) == Self.everything)
            #expect(try await bob.store.status.quarantined == [])
            #expect(try await bob.store.verify().differences == [])
            try await bob.store.settled()
        }
    }

    /// Opens a second device of one of the friends, by number.
    static func phone(_ friends: Friends, of user: Int = 1) async throws -> Device {
        let phone = try await friends.device(of: user, schema: schema)
        try await phone.store.sync()
        return phone
    }

    /// Checks that some devices of a user have the same rows, and the same that wait.
    static func expectSame(_ devices: Device..., shown keys: String) async throws {
        var hidden: [[Verification.HiddenRecord]] = []
        for device in devices {
            #expect(try await Self.keys(device) == keys)
            #expect(try await device.rows() == devices[0].rows())
            let found = try await device.store.verify()
            #expect(found.differences == [])
            hidden.append(found.hidden)
        }
        #expect(hidden.allSatisfy { $0 == hidden[0] })
    }

    @Test(
        "An own row that another device deletes, or gives another key, keeps its key on all devices if it returns",
        arguments: [
            ("DELETE FROM folder", "food "),
            (
                rekeying,
                "beer drinks,drinks ,food "
            ),
        ],
        [false, true]
    )
    func returning(_ way: (sql: String, keys: String), isOtherOrder: Bool) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await Self.phone(friends)
            try await phone.run("UPDATE folder SET name = 'Phone''s'")
            try await bob.run(way.sql)
            if isOtherOrder {
                try await settle(phone, bob, ada)
            } else {
                try await settle(bob, phone, ada)
            }
            let keys = isOtherOrder && !way.keys.contains("beer") ? "food " : way.keys
            try await Self.expectSame(bob, phone, shown: keys)
            for device in [bob, phone] {
                let name = "SELECT name FROM folder WHERE id = 'food'"
                #expect(try await device.value(name) == "Phone's")
                let status = try await device.store.status
                #expect(status.quarantined.map { $0.reason.contains("your own row") } == [true])
                #expect(status.waitingForParents == 3)
            }
            // The advice concerns the own row alone.
            try await bob.run("DELETE FROM folder WHERE id = 'food'")
            try await settle(bob, phone, ada)
            let rest = keys.replacing("food ", with: "")
            try await Self.expectSame(bob, phone, shown: rest + Self.everything)
            try await Self.expectSame(ada, shown: Self.everything)
            for device in [ada, bob, phone] { try await device.store.settled() }
        }
    }

    @Test(
        "An own row takes its key from a shared one that was here first; what was not sent is in the journal"
    )
    func displaced() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Self.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await Self.phone(friends)
            try await ada.run(
                """
                INSERT INTO folder VALUES ('food', 'Ada''s', NULL), ('sub', 'Sub', 'food');
                INSERT INTO note (id, title, folder) VALUES ('milk', 'Milk', 'food'), ('egg', 'Egg', 'sub');
                """
            )
            try await ada.store.sync()
            try await friends.accept(friends.share("food", cleo: nil), bob)
            try await phone.run(
                "INSERT INTO folder VALUES ('food', 'Bob''s', NULL); "
                    + "INSERT INTO note (id, folder) VALUES ('beer', 'food')"
            )
            // The phone has sent its rows before it knows the share.
            try await phone.store.sync()
            try await bob.run(
                """
                UPDATE folder SET name = 'Edited' WHERE id = 'food';
                UPDATE note SET title = 'Edited' WHERE id = 'egg';
                INSERT INTO note (id, title, folder) VALUES ('new', 'New', 'sub');
                """
            )
            try await settle(bob, phone, ada)
            try await Self.expectSame(bob, phone, shown: "beer food,food ")
            let journal = try await bob.store.journal()
            #expect(Set(journal.map(\.key)) == ["food", "egg", "new"])
            #expect(Set(journal.map(\.rule)) == ["access"])
            #expect(
                Set(friends.events.all)
                    == [
                        "editsRefused folder food", "editsRefused note egg",
                        "editsRefused note new",
                    ]
            )
            let hidden = try await bob.store.verify().hidden
            #expect(
                Set(hidden.map(\.recordName))
                    == ["folder:food", "folder:sub", "note:milk", "note:egg"]
            )
            #expect(hidden.allSatisfy { $0.owner == friends.users[0].recordName })
            // Edits of the others come and go while they wait.
            try await ada.run(
                "UPDATE note SET title = 'Newer' WHERE id = 'egg'; DELETE FROM note WHERE id = 'milk'"
            )
            try await settle(ada, bob, phone)
            try await phone.run(Self.rekeying)
            try await settle(phone, bob, ada)
            let keys = "beer drinks,drinks ,egg sub,food ,sub food"
            try await Self.expectSame(bob, phone, shown: keys)
            #expect(try await bob.value("SELECT title FROM note WHERE id = 'egg'") == "Newer")
            #expect(try await bob.store.canWrite("egg", in: "note"))
            for device in [ada, bob, phone] { try await device.store.settled() }
        }
    }

    @Test("What was lost with a row that gave up its key is not restored into the row that has it")
    func restoring() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Self.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await Self.phone(friends)
            try await ada.run("INSERT INTO folder VALUES ('food', 'Ada''s', NULL)")
            try await ada.store.sync()
            try await friends.accept(friends.share("food", cleo: nil), bob)
            try await phone.run("INSERT INTO folder VALUES ('food', 'Bob''s', NULL)")
            try await phone.store.sync()
            try await bob.run("UPDATE folder SET name = 'Edited' WHERE id = 'food'")
            try await settle(bob, phone)
            var entry = try #require(try await bob.store.journal().first)
            #expect(entry.rule == "access" && entry.lost == ["name": .text("Edited")])
            let lost = entry
            let error = await #expect(throws: CloudStoreError.self) {
                try await bob.store.restore(lost)
            }
            #expect(error?.message.contains("set the entry's key") == true)
            entry.key = "copy"
            try await bob.store.restore(entry)
            try await settle(bob, phone)
            try await Self.expectSame(bob, phone, shown: "copy ,food ")
            let names = "SELECT group_concat(name) FROM (SELECT name FROM folder ORDER BY id)"
            #expect(try await phone.value(names) == "Edited,Bob's")
        }
    }

    @Test("A key is free again when a row goes that the server does not have any more")
    func vanished() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await Self.phone(friends)
            try await ada.run(
                "INSERT INTO note (id, title, folder) VALUES ('beer', 'Ada''s', 'food')"
            )
            try await settle(ada, bob, phone)
            // The note survives its own deletion, and goes with the folder.
            try await bob.run("UPDATE note SET title = 'Edited' WHERE id = 'beer'")
            try await phone.run("DELETE FROM folder")
            try await settle(phone, bob, phone)
            let keys = "beer food," + Self.everything
            try await Self.expectSame(bob, phone, shown: keys)
            #expect(try await bob.value("SELECT title FROM note WHERE id = 'beer'") == "Ada's")
            #expect(try await bob.store.journal().map(\.rule) == ["cascade"])
            for device in [ada, bob, phone] { try await device.store.settled() }
        }
    }

    @Test("A deletion that waits to be sent keeps its key until then")
    func pendingDeletion() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Self.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await Self.phone(friends)
            try await ada.run(
                "INSERT INTO folder VALUES ('top', 'Top', NULL), ('food', 'Ada''s', 'top')"
            )
            try await ada.store.sync()
            try await friends.accept(friends.share("top", cleo: nil), bob)
            try await phone.run("INSERT INTO folder VALUES ('food', 'Bob''s', NULL)")
            try await phone.store.sync()
            try await bob.run("DELETE FROM folder WHERE id = 'food'")
            try await settle(bob, phone, ada)
            try await Self.expectSame(bob, phone, shown: "food ,top ")
            try await Self.expectSame(ada, shown: "top ")
            #expect(try await bob.value("SELECT name FROM folder WHERE id = 'food'") == "Bob's")
            for device in [ada, bob, phone] { try await device.store.settled() }
        }
    }

    @Test(
        "A row that waits leaves its key to another user's row that can show, on all devices",
        arguments: [true, false]
    )
    func waitingOwner(isFirstLast: Bool) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Self.schema)
            let bob = friends.bob
            let phone = try await Self.phone(friends)
            // The first by name first.
            let owners = zip([friends.ada, friends.cleo], [friends.users[0], friends.users[2]])
                .sorted { $0.1.recordName < $1.1.recordName }.map(\.0)
            let rows = [
                """
                INSERT INTO folder VALUES ('top', 'First', NULL), ('food', 'First', 'top');
                INSERT INTO note (id, folder) VALUES ('one', 'food')
                """,
                """
                INSERT INTO folder VALUES ('food', 'Second', NULL);
                INSERT INTO note (id, folder) VALUES ('two', 'food')
                """,
            ]
            try await bob.run("INSERT INTO folder VALUES ('top', 'Bob''s', NULL)")
            try await settle(bob, phone)
            var links: [CKShare.Metadata] = []
            for (owner, (rows, top)) in zip(owners, zip(rows, ["top", "food"])) {
                try await owner.run(rows)
                try await owner.store.sync()
                let share = try await owner.store.share(top, in: "folder") {
                    $0.publicPermission = .readWrite
                }
                links.append(try await bob.container.shareMetadata(for: try #require(share.url)))
            }
            for link in isFirstLast ? links.reversed() : links {
                try await bob.store.accept(link)
                try await phone.store.sync()
            }
            let tablet = try await Self.phone(friends)
            try await settle(bob, phone, tablet)
            try await Self.expectSame(bob, phone, tablet, shown: "food ,top ,two food")
            #expect(try await tablet.store.canWrite("two", in: "note"))
            // An edit of what waits changes nothing; what it waits for brings it, in its turn.
            try await owners[0].run("UPDATE folder SET name = 'Edited' WHERE id = 'food'")
            try await phone.run("UPDATE note SET title = 'Mine' WHERE id = 'two'")
            try await settle(owners[0], bob, phone, tablet)
            try await Self.expectSame(bob, phone, tablet, shown: "food ,top ,two food")
            #expect(try await phone.store.journal().isEmpty)
            try await phone.run("DELETE FROM folder WHERE id = 'top'")
            try await settle(phone, bob, tablet)
            try await Self.expectSame(bob, phone, tablet, shown: "food top,one food,top ")
            #expect(try await tablet.value("SELECT name FROM folder WHERE id = 'food'") == "Edited")
            // The second's row shows again when the first's goes out of sight.
            try await owners[0].run("UPDATE folder SET parent = NULL WHERE id = 'food'")
            try await settle(owners[0], bob, phone, tablet)
            try await Self.expectSame(bob, phone, tablet, shown: "food ,top ,two food")
            for device in [bob, phone, tablet] {
                #expect(try await device.value("SELECT title FROM note") == "Mine")
                try await device.store.settled()
            }
        }
    }

    @Test("Of two users' rows the same one has the key on all devices, whichever came first")
    func twoOwners() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Self.schema)
            let bob = friends.bob
            let phone = try await Self.phone(friends)
            // The first by name first.
            let owners = zip([friends.ada, friends.cleo], [friends.users[0], friends.users[2]])
                .sorted { $0.1.recordName < $1.1.recordName }.map(\.0)
            var links: [CKShare.Metadata] = []
            for (owner, note) in zip(owners, ["one", "two"]) {
                try await owner.run(
                    "INSERT INTO folder VALUES ('food', '\(note)', NULL); "
                        + "INSERT INTO note (id, folder) VALUES ('\(note)', 'food')"
                )
                try await owner.store.sync()
                let share = try await owner.store.share("food", in: "folder") {
                    $0.publicPermission = .readWrite
                }
                links.append(try await bob.container.shareMetadata(for: try #require(share.url)))
            }
            try await bob.store.accept(links[1])
            try await phone.store.sync()
            try await Self.expectSame(bob, phone, shown: "food ,two food")
            try await phone.run("UPDATE folder SET name = 'Edited'")
            try await bob.store.accept(links[0])
            let tablet = try await Self.phone(friends)
            try await settle(bob, phone)
            try await Self.expectSame(bob, phone, tablet, shown: "food ,one food")
            let entry = try #require(try await phone.store.journal().first)
            await #expect(throws: CloudStoreError.self) { try await phone.store.restore(entry) }
            for device in [bob, phone, tablet] {
                let reasons = try await device.store.status.quarantined.map(\.reason)
                #expect(reasons.map { $0.contains("ask one of the two") } == [true])
                #expect(reasons.map { $0.contains("delete") } == [false])
            }
            try await bob.store.leave("food", in: "folder")
            try await settle(bob, phone, tablet)
            try await phone.store.restore(entry)
            try await settle(phone, bob, tablet)
            try await Self.expectSame(bob, phone, tablet, shown: "food ,two food")
            #expect(try await tablet.value("SELECT name FROM folder") == "Edited")
            for device in [bob, phone, tablet] {
                #expect(try await device.store.canWrite("two", in: "note"))
                try await device.store.settled()
            }
        }
    }
}
