import CloudKit
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient
import GRDB
import Support
import Testing

@Suite("What leaves a participant's sight is not deleted", .timeLimit(.minutes(10)))
struct SightTests {
    typealias Friends = SharingTests.Friends

    private static let tables: [SyncedTable] = [.table("folder"), .table("note", parent: "folder")]

    /// The foreign key actions on a note when the note that it refers to is deleted.
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

    /// Returns each note with its references.
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
    func inaccessibleReferenceCount(
        _ rule: String,
        _ permission: CKShare.ParticipantPermission
    ) async throws {
        try await Self.withFriends(rule, permission) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let hidden = rule.contains("NOT NULL") ? "" : "x:"
            for _ in 0..<2 {
                try await ada.store.unshare("b", in: "folder")
                try await settle(bob, ada)
                #expect(try await Self.related(bob) == hidden)
                #expect(try await Self.related(ada) == "c:c,x:c")
                // Nothing waits for rows that the owner does not share.
                try await bob.store.settled()
                #expect(try await bob.store.status.inaccessibleReferenceCount == 1)
                try await friends.accept(friends.share("b", bob: permission, cleo: nil), bob)
                try await settle(ada, bob)
                #expect(try await Self.related(bob) == "c:c,x:c")
                #expect(try await bob.store.journal().isEmpty)
                #expect(try await bob.store.status.inaccessibleReferenceCount == 0)
            }
            // The row moves out instead.
            try await ada.run("UPDATE note SET folder = NULL WHERE id = 'c'")
            try await settle(ada, bob, ada)
            #expect(try await Self.related(bob) == hidden)
            #expect(try await Self.related(ada) == "c:c,x:c")
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
            }
        }
    }

    /// The transactions that write a note again as it shows, with its title after them.
    static let rewrites: [(sql: [String], title: String)] = [
        (["REPLACE INTO note SELECT * FROM note"], "Other"),
        (["REPLACE INTO note SELECT id, 'New', folder, related FROM note"], "New"),
        (["\(keeping); INSERT INTO note SELECT * FROM kept"], "Other"),
        ([keeping, "INSERT INTO note SELECT * FROM kept"], "Other"),
    ]

    private static let keeping =
        "CREATE TEMP TABLE kept AS SELECT * FROM note; DELETE FROM note"

    /// An act of the owner before a participant sends a row that was written again.
    enum Meanwhile: CaseIterable {
        case nothing
        case refersElsewhere
        case shares
    }

    @Test(
        "A row that is written again as it shows keeps its reference out of sight",
        arguments: rewrites,
        Meanwhile.allCases
    )
    func rewriting(
        _ rewrite: (sql: [String], title: String),
        _ meanwhile: Meanwhile
    ) async throws {
        try await Self.withFriends("ON DELETE SET NULL", .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.store.unshare("b", in: "folder")
            try await ada.run("INSERT INTO note VALUES ('d', 'Else', 'b', NULL)")
            try await settle(bob, ada)
            #expect(try await Self.related(bob) == "x:")
            for sql in rewrite.sql { try await bob.run(sql) }
            switch meanwhile {
            case .nothing: break
            case .refersElsewhere:
                try await ada.run("UPDATE note SET related = 'd' WHERE id = 'x'")
                try await ada.store.sync()
            case .shares:
                try await friends.accept(friends.share("b", cleo: nil), bob)
            }
            try await settle(bob, ada)
            let related = meanwhile == .refersElsewhere ? "c:c,d:,x:d" : "c:c,d:,x:c"
            #expect(try await Self.related(ada) == related)
            if meanwhile != .shares {
                #expect(try await Self.related(bob) == "x:")
                try await friends.accept(friends.share("b", cleo: nil), bob)
            }
            try await settle(bob, ada)
            #expect(try await Self.related(bob) == related)
            for device in [ada, bob] {
                let title = "SELECT title FROM note WHERE id = 'x'"
                #expect(try await device.value(title) == rewrite.title)
                #expect(try await device.store.journal().isEmpty)
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test(
        "A replacement clears the reference that it shows without, if its target was in sight or deleted",
        arguments: [
            ("REPLACE INTO note SELECT id, title, folder, NULL FROM note WHERE id = 'x'", "c:c,x:"),
            (
                "DELETE FROM note WHERE id = 'c'; REPLACE INTO note SELECT * FROM note WHERE id = 'x'",
                "x:"
            ),
        ]
    )
    func clearing(_ sql: String, _ related: String) async throws {
        try await Self.withFriends("ON DELETE SET NULL", .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run(sql)
            try await settle(bob, ada)
            for device in [ada, bob] {
                #expect(try await Self.related(device) == related)
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("A row that is inserted after its deletion was sent has no reference out of sight")
    func insertionAfterDeletion() async throws {
        try await Self.withFriends("ON DELETE SET NULL", .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.store.unshare("b", in: "folder")
            try await settle(bob, ada)
            try await bob.run(Self.keeping)
            try await bob.store.sync()
            try await bob.run("INSERT INTO note SELECT * FROM kept")
            try await settle(bob, ada)
            #expect(try await Self.related(ada) == "c:c,x:")
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

    @Test(
        "A row refers to another that shows without what is out of sight, whichever has the first name",
        arguments: rules.filter { !$0.contains("NOT NULL") }
    )
    func chain(_ rule: String) async throws {
        try await Self.withFriends(rule, .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.store.unshare("b", in: "folder")
            try await ada.run(
                """
                INSERT INTO note VALUES ('y4', 'New', 'a', 'c');
                INSERT INTO note VALUES ('y3', 'New', 'a', 'y4'), ('y5', 'New', 'a', 'y4');
                INSERT INTO note VALUES ('y2', 'New', 'a', 'y3');
                """
            )
            try await settle(ada, bob)
            #expect(try await Self.related(bob) == "x:,y2:y3,y3:y4,y4:,y5:y4")
            #expect(try await bob.store.status.inaccessibleReferenceCount == 2)
            try await bob.store.settled()
        }
    }

    @Test(
        "A row whose reference is to one out of sight now shows without it, or not at all",
        arguments: rules
    )
    func changed(_ rule: String) async throws {
        try await Self.withFriends(rule, .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run("INSERT INTO note VALUES ('h', 'Hidden', NULL, 'h')")
            try await ada.run("UPDATE note SET related = 'h' WHERE id = 'x'")
            try await settle(ada, bob)
            #expect(try await Self.related(bob) == (rule.contains("NOT NULL") ? "c:c" : "c:c,x:"))
            try await bob.store.settled()
            try await ada.run("UPDATE note SET folder = 'b' WHERE id = 'h'")
            try await settle(ada, bob)
            #expect(try await Self.related(bob) == "c:c,h:h,x:h")
            #expect(try await Self.related(ada) == Self.related(bob))
        }
    }

    @Test("A row whose deletion is refused comes back at once, without what is out of sight")
    func refusedDeletion() async throws {
        try await Self.withFriends("ON DELETE CASCADE", .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.store.unshare("b", in: "folder")
            try await ada.run("INSERT INTO folder VALUES ('g', 'Inner', 'a')")
            try await ada.run("UPDATE note SET folder = 'g' WHERE id = 'x'")
            try await settle(ada, bob)
            try await bob.run("DELETE FROM folder WHERE id = 'g'")
            try await ada.store.share("a", in: "folder", ifIncomplete: .shareOthers) { share in
                for other in share.participants where other.role != .owner {
                    other.permission = .readOnly
                }
            }
            try await settle(bob, ada)
            #expect(try await Self.related(bob) == "x:")
            #expect(try await bob.value("SELECT folder FROM note") == "g")
            #expect(try await !bob.store.canWrite("x", in: "note"))
            try await bob.store.settled()
        }
    }

    @Test(
        "A row that refers to one which is refused loses the reference, or goes",
        arguments: ["ON DELETE SET NULL", "NOT NULL"]
    )
    func refusedTarget(_ rule: String) async throws {
        try await Self.withFriends(rule, .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run("INSERT INTO folder VALUES ('g', 'Inner', 'a')")
            try await ada.store.share("b", in: "folder", ifIncomplete: .shareOthers) { share in
                for other in share.participants where other.role != .owner {
                    other.permission = .readOnly
                }
            }
            try await settle(ada, bob)
            try await ada.run("UPDATE folder SET parent = 'b' WHERE id = 'g'")
            try await bob.run(
                """
                INSERT INTO note VALUES ('m', 'Refused', 'g', 'x'), ('r', 'Refers', 'a', 'm');
                """
            )
            try await settle(ada, bob, ada)
            let expected = rule == "NOT NULL" ? "c:c,x:c" : "c:c,r:,x:c"
            for device in [ada, bob] {
                #expect(try await Self.related(device) == expected)
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
            let refused = try await bob.store.journal().filter { $0.rule == "access" }
            #expect(refused.contains { $0.lost["title"] == .text("Refused") })
        }
    }

    @Test("A row that was moved below one that leaves sight is again where its owner has it")
    func movedBelow() async throws {
        try await Self.withFriends("ON DELETE SET NULL", .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run(
                """
                INSERT INTO folder VALUES ('f', 'New', 'b');
                UPDATE note SET folder = 'f' WHERE id = 'x';
                """
            )
            try await ada.store.unshare("b", in: "folder")
            try await settle(bob, ada)
            #expect(try await bob.value("SELECT group_concat(id || folder) FROM note") == "xa")
            #expect(try await bob.value("SELECT group_concat(id) FROM folder") == "a")
            let refused = try await bob.store.journal().filter { $0.rule == "access" }
            #expect(refused.contains { $0.lost["folder"] != nil })
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    /// The statements that take unsent rows out of a shared tree, with those that keep them there.
    static let ties = [
        "INSERT INTO note VALUES ('n', 'Refers', 'f', 'c')",
        "INSERT INTO note VALUES ('n', 'Referred to', 'f', 'n'), ('m', 'Refers', 'a', 'n')",
        "INSERT INTO folder VALUES ('g', 'Below', 'f'); INSERT INTO note VALUES ('n', 'N', 'g', 'x')",
        "UPDATE note SET folder = 'f' WHERE id = 'x'",
    ]

    @Test(
        "Rows that were not sent stay in a shared tree while references tie them to it",
        arguments: ties
    )
    func tied(_ sql: String) async throws {
        try await Self.withFriends("ON DELETE SET NULL", .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("INSERT INTO folder VALUES ('f', 'New', 'a')")
            try await bob.run(sql)
            let error = try await #require(throws: DatabaseError.self) {
                try await bob.run("UPDATE folder SET parent = NULL WHERE id = 'f'")
            }
            #expect(error.message?.contains("cannot leave what another user shares") == true)
            try await bob.run("UPDATE note SET related = NULL WHERE id <> 'c'")
            try await bob.run("UPDATE note SET folder = 'a' WHERE id = 'x'")
            try await bob.run("UPDATE folder SET parent = NULL WHERE id = 'f'")
            // From then on they belong to this user's zone.
            await #expect(throws: DatabaseError.self) {
                try await bob.run("INSERT INTO note VALUES ('l', 'Late', 'f', 'c')")
            }
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT group_concat(id) FROM folder") == "a,b")
            #expect(try await bob.value("SELECT id FROM folder WHERE id = 'f'") == "f")
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

    @Test(
        "An edit of a row that leaves sight is in the journal, and the row stays as its owner has it",
        arguments: rules,
        [false, true]
    )
    func edited(_ rule: String, _ moves: Bool) async throws {
        try await Self.withFriends(rule, .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("UPDATE note SET title = 'Edited' WHERE id = 'c'")
            if moves {
                try await ada.run("UPDATE note SET folder = NULL WHERE id = 'c'")
                try await ada.store.sync()
            } else {
                try await ada.store.unshare("b", in: "folder")
            }
            try await settle(bob, ada)
            #expect(try await Self.related(bob) == (rule.contains("NOT NULL") ? "" : "x:"))
            #expect(try await Self.related(ada) == "c:c,x:c")
            #expect(try await ada.value("SELECT title FROM note WHERE id = 'c'") == "Target")
            // It cannot be distinguished from a deletion, against which the edit wins; then it is refused.
            let refused = try await bob.store.journal().filter { $0.rule == "access" }
            #expect(refused.map { $0.lost["title"] } == [.text("Edited")])
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    /// Opens a device of Bob's file whose process ends before the second page of changes.
    private static func openForOnePage(_ friends: Friends) async throws {
        let holder = TransportHolder()
        let last = try await reopen(friends) { holder.wrap($0) }
        let transport = holder.transport
        transport.before("changes/zone") {
            for _ in 0..<20 { transport.fail("changes/zone", .cut) }
        }
        await #expect(throws: CKError.self) { try await last.store.sync() }
        await last.store.stop()
    }

    private static func reopen(
        _ friends: Friends,
        transport: (any Transport) -> any Transport = { $0 }
    ) async throws -> Device {
        await friends.bob.store.stop()
        return try await Device(
            friends.cloud,
            friends.users[1],
            database: friends.bob.database,
            tables: tables,
            configuration: SharingTests.configuration,
            transport: transport
        )
    }

    @Test(
        "A process that ends between two pages of what leaves or comes into sight goes on later",
        arguments: rules
    )
    func pages(_ rule: String) async throws {
        try await Self.withFriends(rule, .readWrite) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            // More than a page in each of the two folders; rows of one refer to rows of the other.
            try await ada.run(
                """
                WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number LIMIT 230)
                INSERT INTO note SELECT 'b' || n, 'In b', 'b', 'b' || n FROM number;
                WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number LIMIT 230)
                INSERT INTO note SELECT 'a' || n, 'In a', 'a', 'b' || n FROM number;
                """
            )
            try await settle(ada, bob)
            let all = try await Self.related(ada)
            #expect(try await Self.related(bob) == all)

            try await ada.store.unshare("b", in: "folder")
            try await Self.openForOnePage(friends)
            #expect(try await bob.value("PRAGMA foreign_key_check") == nil)
            #expect(try await bob.value("SELECT count(*) FROM note WHERE folder = 'b'") != "231")
            var again = try await Self.reopen(friends)
            try await settle(again, ada)
            let count = rule.contains("NOT NULL") ? "0" : "231"
            #expect(try await again.value("SELECT count(*) FROM note") == count)
            #expect(
                try await again.value("SELECT count(*) FROM note WHERE related IS NOT NULL") == "0"
            )
            try await again.store.settled()
            #expect(try await Self.related(ada) == all)

            await again.store.stop()
            let share = try await friends.share("b", bob: .readWrite, cleo: nil)
            let link = try #require(share.url)
            try await again.container.accept(again.container.shareMetadata(for: link))
            try await Self.openForOnePage(friends)
            #expect(try await bob.value("PRAGMA foreign_key_check") == nil)
            again = try await Self.reopen(friends)
            try await settle(again, ada)
            #expect(try await Self.related(again) == all)
            #expect(try await Self.related(ada) == all)
            #expect(try await again.store.journal().isEmpty)
            #expect(try await again.store.verify().differences == [])
            try await again.store.settled()
        }
    }
}
