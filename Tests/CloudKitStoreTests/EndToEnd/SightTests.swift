import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("What leaves a participant's sight is not deleted", .timeLimit(.minutes(10)))
struct SightTests {
    typealias Friends = SharingTests.Friends

    private static let tables: [SyncedTable] = [.table("folder"), .table("note", parent: "folder")]

    /// What becomes of a note when the one that it refers to is deleted.
    static let rules = [
        "ON DELETE SET NULL", "ON DELETE CASCADE", "ON DELETE RESTRICT", "",
        "NOT NULL ON DELETE CASCADE", "NOT NULL",
    ]

    /// Runs a test with two shared folders, and a note in one that refers to a note in the other.
    private static func withFriends(
        _ rule: String,
        _ permission: CKShare.ParticipantPermission,
        _ body: @Sendable (Friends) async throws -> Void
    ) async throws {
        let parts = rule.components(separatedBy: "NOT NULL")
        let schema = """
            CREATE TABLE folder (
                id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '',
                parent TEXT REFERENCES folder (id) ON DELETE CASCADE
            );
            CREATE TABLE note (
                id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '',
                folder TEXT REFERENCES folder (id) ON DELETE CASCADE,
                related TEXT \(parts.count > 1 ? "NOT NULL" : "")
                    REFERENCES note (id) \(parts.last ?? "")
            );
            """
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, tables: tables, schema: schema)
            try await friends.ada.run(
                """
                INSERT INTO folder (id) VALUES ('a'), ('b');
                INSERT INTO note VALUES ('c', 'Target', 'b', 'c'), ('x', 'Other', 'a', 'c');
                """
            )
            try await friends.ada.store.sync()
            for folder in ["a", "b"] {
                try await friends.accept(
                    friends.share(folder, bob: permission, cleo: nil),
                    friends.bob
                )
            }
            try await settle(friends.ada, friends.bob)
            #expect(try await related(friends.bob) == "c:c,x:c")
            try await body(friends)
        }
    }

    /// Each note with what it refers to.
    private static func related(_ device: Device) async throws -> String {
        try await device.value(
            "SELECT group_concat(id || ':' || coalesce(related, ''), ',') "
                + "FROM (SELECT * FROM note ORDER BY id)"
        ) ?? ""
    }

    @Test(
        "A reference to a row that is shared no more is hidden, and comes back with the row",
        arguments: rules,
        [CKShare.ParticipantPermission.readWrite, .readOnly]
    )
    func outOfSight(_ rule: String, _ permission: CKShare.ParticipantPermission) async throws {
        try await Self.withFriends(rule, permission) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let hidden = rule.contains("NOT NULL") ? "" : "x:"
            for _ in 0..<2 {
                try await ada.store.unshare("b", in: "folder")
                try await settle(bob, ada)
                #expect(try await Self.related(bob) == hidden)
                #expect(try await Self.related(ada) == "c:c,x:c")
                #expect(try await bob.store.status.waitingToSend == 0)
                try await friends.accept(friends.share("b", bob: permission, cleo: nil), bob)
                try await settle(ada, bob)
                #expect(try await Self.related(bob) == "c:c,x:c")
                #expect(try await bob.store.journal().isEmpty)
            }
            // It moves out instead.
            try await ada.run("UPDATE note SET folder = NULL WHERE id = 'c'")
            try await settle(ada, bob, ada)
            #expect(try await Self.related(bob) == hidden)
            #expect(try await Self.related(ada) == "c:c,x:c")
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
            }
        }
    }

    @Test(
        "What an owner deletes takes along what the schema says, and a participant sees that",
        arguments: ["ON DELETE SET NULL", "ON DELETE CASCADE", "NOT NULL ON DELETE CASCADE"],
        [CKShare.ParticipantPermission.readWrite, .readOnly]
    )
    func deletion(_ rule: String, _ permission: CKShare.ParticipantPermission) async throws {
        try await Self.withFriends(rule, permission) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run("DELETE FROM note WHERE id = 'c'")
            try await settle(ada, bob, ada)
            #expect(try await Self.related(ada) == (rule == "ON DELETE SET NULL" ? "x:" : ""))
            #expect(try await Self.related(bob) == Self.related(ada))
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("A row that refers to one out of sight and was never sent stays, without the reference")
    func unsent() async throws {
        try await Self.withFriends("ON DELETE CASCADE", .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("INSERT INTO note VALUES ('y', 'New', 'a', 'c')")
            try await ada.store.unshare("b", in: "folder")
            try await settle(bob, ada)
            #expect(try await Self.related(bob) == "x:,y:")
            #expect(try await Self.related(ada) == "c:c,x:c,y:")
        }
    }
}
