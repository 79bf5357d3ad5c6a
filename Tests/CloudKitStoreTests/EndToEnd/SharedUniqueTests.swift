import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("Users give one UNIQUE value to their rows", .timeLimit(.minutes(10)))
struct SharedUniqueTests {
    typealias Friends = SharingTests.Friends

    /// A schema in which the names of folders are unique.
    private static let schema =
        TakenKeyTests.schema + "CREATE UNIQUE INDEX folderName ON folder (name);"

    private static func phone(_ friends: Friends) async throws -> Device {
        let phone = try await friends.device(of: 1, schema: schema)
        try await settle(phone)
        return phone
    }

    /// Runs a test with a folder below one that Ada shares, which has the name of a folder of Bob's.
    private static func withFriends(
        bobIsFirst: Bool,
        bob permission: CKShare.ParticipantPermission,
        _ body: @Sendable (Friends) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: schema)
            try await friends.ada.run(
                """
                INSERT INTO folder VALUES ('trip', 'Trip', NULL), ('sub', 'Food', 'trip');
                INSERT INTO note (id, title, folder) VALUES ('n', 'Tent', 'sub');
                """
            )
            try await friends.bob.run(
                """
                INSERT INTO folder VALUES ('own', 'Food', NULL);
                INSERT INTO note (id, title, folder) VALUES ('mine', 'Beer', 'own');
                """
            )
            let (first, second) =
                bobIsFirst ? (friends.bob, friends.ada) : (friends.ada, friends.bob)
            try await settle(first)
            try await settle(second)
            try await friends.accept(friends.share(bob: permission, cleo: nil), friends.bob)
            try await settle(friends.bob, friends.ada)
            try await body(friends)
        }
    }

    private static func keys(_ device: Device) async throws -> String? {
        try await device.value(
            "SELECT group_concat(id) FROM (SELECT id FROM folder UNION SELECT id FROM note ORDER BY id)"
        )
    }

    @Test(
        "Each keeps their own row, whichever was first; the shared one waits for another value",
        arguments: [true, false],
        [CKShare.ParticipantPermission.readWrite, .readOnly]
    )
    func waits(_ bobIsFirst: Bool, _ permission: CKShare.ParticipantPermission) async throws {
        try await Self.withFriends(bobIsFirst: bobIsFirst, bob: permission) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            // All of the user's devices show the same, whatever they fetch first.
            for device in [bob, try await Self.phone(friends)] {
                #expect(try await Self.keys(device) == "mine,n,own,trip")
                #expect(try await device.store.status.quarantined.map(\.key) == ["sub"])
            }
            #expect(try await Self.keys(ada) == "n,sub,trip")
            for device in [ada, bob] { #expect(try await device.store.journal().isEmpty) }
            for device in [ada, bob] {
                #expect(try await device.store.status.waitingToSend == 0)
            }

            try await bob.run("UPDATE folder SET name = 'Drinks' WHERE id = 'own'")
            try await settle(bob, ada)
            #expect(try await Self.keys(bob) == "mine,n,own,sub,trip")
            #expect(try await Self.keys(ada) == "n,sub,trip")
        }
    }

    @Test("A shared row that was here first gives way to the user's own, and is not deleted")
    func ownArrivesLater() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Self.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await Self.phone(friends)
            try await ada.run("INSERT INTO folder VALUES ('trip', 'Food', NULL)")
            try await ada.run("INSERT INTO note (id, folder) VALUES ('n', 'trip')")
            try await settle(ada)
            try await friends.accept(friends.share(cleo: nil), bob)
            try await settle(bob)
            #expect(try await Self.keys(bob) == "n,trip")
            try await phone.run("INSERT INTO folder VALUES ('own', 'Food', NULL)")
            try await settle(phone, bob)
            try await settle(phone, bob)
            #expect(try await Self.keys(phone) == "n,own")
            #expect(try await Self.keys(bob) == "n,own")
            try await bob.run("DELETE FROM folder WHERE id = 'own'")
            try await settle(bob, phone)
            for device in [ada, bob, phone] { #expect(try await Self.keys(device) == "n,trip") }
        }
    }

    @Test("An own row stays referred to by own rows when a shared one has its UNIQUE value")
    func references() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Self.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run("INSERT INTO folder VALUES ('trip', 'Food', NULL)")
            try await settle(ada)
            try await bob.run(
                "INSERT INTO folder VALUES ('own', 'Food', NULL), ('below', 'Below', 'own')"
            )
            try await settle(bob)
            try await friends.accept(friends.share(cleo: nil), bob)
            try await settle(bob, ada)
            #expect(try await bob.value("SELECT parent FROM folder WHERE id = 'below'") == "own")
            // When the own row is deleted, nothing of it goes to the shared one.
            try await bob.run("DELETE FROM folder WHERE id = 'own'")
            try await settle(bob, ada)
            #expect(try await Self.keys(bob) == "trip")
            #expect(try await Self.keys(ada) == "trip")
        }
    }

    /// The shared folder with an edit that was not sent, with the edit, the other one, and both after it.
    static let rivals = [
        ("gear", "name = 'Tools'", "food", "Food,ToolsG,Trip"),
        ("food", "code = 'F'", "gear", "FoodF,GearG,Trip"),
    ]

    @Test(
        "No shared row gives way while another one has edits to send, whichever is looked at first",
        arguments: rivals
    )
    func unsentRival(_ key: String, _ edit: String, _ other: String, _ rows: String) async throws {
        let schema = TakenKeyTests.schema.replacing(
            "CREATE TABLE note",
            with: """
                CREATE UNIQUE INDEX folderName ON folder (name);
                ALTER TABLE folder ADD COLUMN code TEXT;
                CREATE UNIQUE INDEX folderCode ON folder (code);
                CREATE TABLE note
                """
        )
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: schema)
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await Device(
                cloud,
                friends.users[1],
                schema: schema,
                configuration: SharingTests.configuration
            )
            try await ada.run(
                """
                INSERT INTO folder (id, name, code, parent) VALUES ('trip', 'Trip', NULL, NULL),
                    ('food', 'Food', NULL, 'trip'), ('gear', 'Gear', 'G', 'trip');
                """
            )
            try await ada.run(
                "INSERT INTO note (id, title, folder) VALUES ('n', 'Tent', ?)",
                [other]
            )
            try await settle(ada)
            try await friends.accept(friends.share(cleo: nil), bob)
            try await settle(bob)
            // A row of Bob's own, from a device that has not synced since, with a value of each.
            try await phone.run("INSERT INTO folder (id, name, code) VALUES ('own', 'Food', 'G')")
            try await phone.store.sync()
            try await bob.run(
                "UPDATE folder SET \(edit) WHERE id = '\(key)'; UPDATE note SET title = 'Big'"
            )
            try await settle(bob, phone, ada)
            for device in [bob, phone] {
                #expect(try await Self.keys(device) == "n,own,trip")
                #expect(try await device.store.status.waitingToSend == 0)
                #expect(try await device.store.journal().isEmpty)
            }
            #expect(
                try await ada.value(
                    "SELECT group_concat(name || coalesce(code, '')) "
                        + "FROM (SELECT * FROM folder ORDER BY id)"
                ) == rows
            )
            #expect(try await ada.value("SELECT title FROM note") == "Big")
        }
    }
}
