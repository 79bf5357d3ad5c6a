import CloudKit
import CloudKitStore
import GRDB
import Support
import Testing

@Suite("Users give the same key to their rows", .timeLimit(.minutes(10)))
struct TakenKeyTests {
    typealias Friends = SharingTests.Friends

    /// A schema in which everything below a folder is deleted with it.
    private static let schema = Device.schema.replacing("SET NULL", with: "CASCADE")

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
            let found = try await bob.store.verify()
            #expect(found.differences == [])
            #expect(found.hidden.map(\.recordName).contains("folder:food"))
            #expect(found.hidden.count == 5)
        }
    }

    @Test(
        "They come when the own row is deleted, or has another key",
        arguments: [
            ("DELETE FROM folder", everything),
            (
                "PRAGMA defer_foreign_keys = 1; UPDATE folder SET id = 'drinks'; "
                    + "UPDATE note SET folder = 'drinks'",
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

    @Test("Own rows of another device wait just so where the shared row was first")
    func ownRows() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Self.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await Device(
                cloud,
                friends.users[1],
                schema: Self.schema,
                configuration: SharingTests.configuration
            )
            try await ada.run(
                "INSERT INTO folder VALUES ('food', 'Ada''s', NULL); "
                    + "INSERT INTO note (id, folder) VALUES ('milk', 'food')"
            )
            try await ada.store.sync()
            try await friends.accept(friends.share("food", cleo: nil), bob)
            try await phone.run(
                "INSERT INTO folder VALUES ('food', 'Bob''s', NULL); "
                    + "INSERT INTO note (id, folder) VALUES ('beer', 'food')"
            )
            try await settle(phone, bob)
            #expect(try await Self.keys(bob) == "food ,milk food")
            #expect(try await Self.keys(phone) == "beer food,food ")
            try await phone.run("DELETE FROM folder")
            try await settle(phone, bob)
            for device in [phone, bob] {
                #expect(try await Self.keys(device) == "food ,milk food")
                try await device.store.settled()
            }
        }
    }
}
