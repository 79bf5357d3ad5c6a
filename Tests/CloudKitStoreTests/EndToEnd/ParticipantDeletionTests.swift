import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Synchronization
import Testing

@Suite("What a participant deletes of another user's tree", .timeLimit(.minutes(10)))
struct ParticipantDeletionTests {
    typealias Friends = SharingTests.Friends

    /// A schema in which everything below a folder is deleted with it.
    private static let schema = Device.schema.replacing("SET NULL", with: "CASCADE")

    /// Runs a test with a folder that Ada shares: in it a folder, in that another, and notes in both.
    private static func withFriends(
        schema: String = schema,
        _ body: @Sendable (Friends) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: schema)
            try await friends.ada.run(
                """
                INSERT INTO folder VALUES ('trip', 'Trip', NULL), ('sub', 'Sub', 'trip'),
                    ('deep', 'Deep', 'sub'), ('lone', 'Lone', NULL);
                INSERT INTO note (id, title, folder) VALUES ('n', 'Tent', 'sub'), ('o', 'Map', 'deep');
                """
            )
            try await friends.ada.store.sync()
            try await friends.accept(friends.share(), friends.bob, friends.cleo)
            try await body(friends)
        }
    }

    /// Moves a folder out of the tree and shares it by itself, which another device of Bob's accepts.
    private static func shareAlone(_ folder: String, _ friends: Friends) async throws {
        try await friends.ada.run("UPDATE folder SET parent = NULL WHERE id = ?", [folder])
        try await friends.ada.store.sync()
        try await friends.accept(friends.share(folder, cleo: nil), friends.bob)
    }

    /// Opens another device of Bob's that has the shared rows.
    private static func phone(
        _ friends: Friends,
        schema: String = schema,
        batchLimit: Int = 200
    ) async throws -> (Device, InterruptedTransport) {
        var configuration = SharingTests.configuration
        configuration.batchLimit = batchLimit
        configuration.onEvent = { friends.events.add($0) }
        let holder = TransportHolder()
        let device = try await Device(
            friends.cloud,
            friends.users[1],
            schema: schema,
            configuration: configuration,
            transport: { holder.wrap($0) }
        )
        try await device.store.sync()
        return (device, holder.transport)
    }

    private static let folders = "SELECT group_concat(id) FROM (SELECT id FROM folder ORDER BY id)"

    // MARK: The top of a share

    @Test(
        "The top of a share is its owner's to delete: a participant's write fails and says what to do",
        arguments: [
            "DELETE FROM folder WHERE id = 'trip'", "DELETE FROM folder",
            "UPDATE folder SET id = 'other', parent = NULL WHERE id = 'lone'",
        ]
    )
    func refusedTop(_ sql: String) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.accept(friends.share("lone", cleo: nil), bob)
            let before = (try await ada.rows(), try await bob.rows())
            let error = try await #require(throws: DatabaseError.self) { try await bob.run(sql) }
            #expect(error.resultCode == .SQLITE_CONSTRAINT)
            for part in ["'folder'", "the top of what its owner shares", "leave(_:in:)"] {
                #expect(error.message?.contains(part) == true)
            }
            #expect(try await bob.rows() == before.1)
            try await settle(bob, ada)
            #expect(try await ada.rows() == before.0)
            #expect(try await bob.store.journal().isEmpty)
            // The owner may.
            try await ada.run("DELETE FROM folder WHERE id = 'lone'")
            try await settle(ada, bob)
            #expect(try await bob.value(Self.folders) == "deep,sub,trip")
        }
    }

    @Test("The top of a share that one may only read is left, not deleted")
    func refusedTopOfReader() async throws {
        try await Self.withFriends { friends in
            let error = try await #require(throws: DatabaseError.self) {
                try await friends.cleo.run("DELETE FROM folder WHERE id = 'trip'")
            }
            #expect(error.message?.contains("leave(_:in:)") == true)
        }
    }

    @Test(
        "A replacement of the top of a share is refused where it would take the rows below along",
        arguments: [schema, Device.schema]
    )
    func replacedTop(_ schema: String) async throws {
        try await Self.withFriends(schema: schema) { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.accept(friends.share("lone", cleo: nil), bob)
            let before = (try await ada.rows(), try await bob.rows())
            let error = try await #require(throws: DatabaseError.self) {
                try await bob.run("REPLACE INTO folder (id, name) VALUES ('trip', 'New')")
            }
            #expect(error.message?.contains("ON CONFLICT DO UPDATE") == true)
            #expect(try await bob.rows() == before.1)
            try await settle(bob, ada)
            #expect(try await ada.rows() == before.0)
            // Nothing is below this one.
            try await bob.run("REPLACE INTO folder (id, name) VALUES ('lone', 'New')")
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT name FROM folder WHERE id = 'lone'") == "New")
        }
    }

    @Test("A deletion that would take the top of another share along is refused as a whole")
    func refusedAbove() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.store.unshare("trip", in: "folder")
            try await friends.accept(friends.share("deep", cleo: nil), bob)
            try await friends.accept(friends.share("trip", cleo: nil), bob)
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT parent FROM folder WHERE id = 'deep'") == "sub")
            let before = try await bob.rows()
            await #expect(throws: DatabaseError.self) {
                try await bob.run("DELETE FROM folder WHERE id = 'sub'")
            }
            #expect(try await bob.rows() == before)
            try await bob.store.leave("deep", in: "folder")
            try await bob.run("DELETE FROM folder WHERE id = 'sub'")
            try await bob.store.sync()
            #expect(try await bob.value(Self.folders) == "trip")
        }
    }

    @Test(
        "A deletion of what became the top of a share meanwhile is reverted with all rows below it",
        arguments: [schema, Device.schema]
    )
    func becameTop(_ schema: String) async throws {
        try await Self.withFriends(schema: schema) { friends in
            let (phone, _) = try await Self.phone(friends, schema: schema)
            try await phone.run("DELETE FROM folder WHERE id = 'sub'")
            try await Self.shareAlone("sub", friends)
            let before = try await friends.ada.rows()
            try await settle(phone, friends.ada, friends.bob)
            #expect(try await friends.ada.rows() == before)
            #expect(try await phone.rows() == friends.bob.rows())
            #expect(try await phone.value(Self.folders) == "deep,sub,trip")
            #expect(try await phone.value("SELECT count(*) FROM note WHERE folder <> ''") == "2")
            let journal = try await phone.store.journal()
            #expect(Set(journal.map(\.key)).isSuperset(of: ["deep", "n", "o"]))
            #expect(Set(journal.map(\.rule)) == ["access"])
            #expect(friends.events.all.contains("editsRefused folder deep"))
            try await phone.store.settled()
            #expect(try await phone.store.verify().differences == [])
        }
    }

    @Test("Nothing is deleted below what became the top of a share after the last fetch")
    func becameTopLate() async throws {
        try await Self.withFriends { friends in
            // The rows below are deleted first, each with a request of its own.
            let (phone, transport) = try await Self.phone(friends, batchLimit: 1)
            try await phone.run("DELETE FROM folder WHERE id = 'sub'")
            transport.before("records/lookup") { try await Self.shareAlone("sub", friends) }
            try await settle(phone, friends.ada, friends.bob)
            #expect(try await friends.ada.value("SELECT count(*) FROM note") == "2")
            #expect(try await friends.ada.value(Self.folders) == "deep,lone,sub,trip")
            #expect(try await phone.rows() == friends.bob.rows())
            let journal = try await phone.store.journal()
            #expect(Set(journal.map(\.key)) == ["deep", "n", "o", "sub"])
            #expect(Set(journal.map(\.rule)) == ["access"])
            #expect(journal.allSatisfy { $0.lost.isEmpty && $0.kept != nil })
            try await phone.store.settled()
        }
    }

    @Test("A row that goes with a deleted one takes the top of another share along with it nowhere")
    func topBelowLateRow() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.accept(friends.share("lone", cleo: nil), bob)
            try await bob.run("DELETE FROM folder WHERE id = 'deep'")
            try await ada.run(
                """
                INSERT INTO folder VALUES ('late', 'Late', 'deep');
                UPDATE folder SET parent = 'late' WHERE id = 'lone';
                """
            )
            try await ada.store.sync()
            try await settle(bob)
            #expect(try await bob.value(Self.folders) == "lone,sub,trip")
            try await bob.store.settled()
        }
    }

    // MARK: The end of a share

    enum End: CaseIterable {
        case unshared
        case removed
        case unsharedOneOfTwo
        case removedFromOneOfTwo
        case left
    }

    @Test(
        "A deletion that was not sent when the share ended is in the journal",
        arguments: End.allCases
    )
    func ended(_ end: End) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            if [.unsharedOneOfTwo, .removedFromOneOfTwo].contains(end) {
                try await friends.accept(friends.share("lone", cleo: nil), bob)
            }
            try await bob.run(
                """
                DELETE FROM note WHERE id = 'n';
                DELETE FROM folder WHERE id = 'deep';
                INSERT INTO note (id, title, folder) VALUES ('new', 'Never sent', 'sub');
                DELETE FROM note WHERE id = 'new';
                """
            )
            switch end {
            case .unshared, .unsharedOneOfTwo: try await ada.store.unshare("trip", in: "folder")
            case .removed, .removedFromOneOfTwo: try await friends.share(bob: nil)
            case .left:
                // The sync of leaving fetches before it sends.
                try await bob.store.leave("trip", in: "folder")
            }
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT count(*) FROM note") == "2")
            let journal = try await bob.store.journal()
            #expect(journal.map(\.key).sorted() == ["deep", "n", "o"])
            #expect(journal.allSatisfy { $0.rule == "access" && $0.lost.isEmpty })
            let note = try #require(journal.first { $0.key == "n" })
            #expect(note.kept?["title"] == .text("Tent"))
            try await bob.store.settled()
        }
    }

    @Test(
        "A deletion that was not sent when the owner moved the row out of the share is in the journal",
        arguments: [
            "UPDATE note SET folder = NULL WHERE id = 'n'",
            "UPDATE note SET folder = 'lone' WHERE id = 'n'",
            "UPDATE folder SET parent = NULL WHERE id = 'sub'",
        ]
    )
    func movedOut(_ move: String) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("DELETE FROM note WHERE id = 'n'")
            try await ada.run(move)
            try await ada.store.sync()
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT title FROM note WHERE id = 'n'") == "Tent")
            #expect(try await bob.value("SELECT count(*) FROM note WHERE id = 'n'") == "0")
            let journal = try await bob.store.journal()
            #expect(journal.map(\.key) == ["n"] && journal.map(\.rule) == ["access"])
            #expect(journal.map { $0.lost.isEmpty && $0.kept?["title"] == .text("Tent") } == [true])
            #expect(friends.events.all == ["editsRefused note n"])
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
            // It comes back with its place.
            try await ada.run(
                "UPDATE folder SET parent = 'trip' WHERE id = 'sub'; "
                    + "UPDATE note SET folder = 'sub' WHERE id = 'n'"
            )
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT title FROM note WHERE id = 'n'") == "Tent")
        }
    }

    @Test("A row that leaves the share with an edit that was sent takes nothing into the journal")
    func movedOutAfterEdit() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("UPDATE note SET title = 'Big tent' WHERE id = 'n'")
            try await bob.store.sync()
            try await ada.run("UPDATE note SET folder = 'lone' WHERE id = 'n'")
            try await ada.store.sync()
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT title FROM note WHERE id = 'n'") == "Big tent")
            #expect(try await bob.value("SELECT count(*) FROM note WHERE id = 'n'") == "0")
            #expect(try await bob.store.journal() == [])
        }
    }

    @Test(
        "What was not sent below a folder that somebody else deletes is in the journal, and reported",
        arguments: [false, true]
    )
    func deletedAbove(isByOwner: Bool) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let (phone, _) = try await Self.phone(friends)
            try await phone.run(
                """
                UPDATE note SET title = 'Big tent' WHERE id = 'n';
                INSERT INTO note (id, title, folder) VALUES ('new', 'Rope', 'deep');
                """
            )
            let other = isByOwner ? ada : bob
            try await other.run("DELETE FROM folder WHERE id = 'sub'")
            try await settle(other, phone, ada)
            #expect(try await phone.value(Self.folders) == "trip")
            let journal = try await phone.store.journal()
            #expect(Set(journal.map(\.key)) == ["n", "new"])
            #expect(Set(journal.map(\.rule)) == ["access"])
            #expect(Set(friends.events.all) == ["editsRefused note n", "editsRefused note new"])
            #expect(friends.events.all.count == 2)
            for device in [ada, phone] { try await device.store.settled() }
        }
    }

    @Test("A deletion of a row that its owner deleted too is not in the journal")
    func deletedByBoth() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            for device in [bob, ada] {
                try await device.run("DELETE FROM folder WHERE id = 'sub'")
            }
            try await settle(ada, bob)
            #expect(try await bob.value(Self.folders) == "trip")
            #expect(try await bob.store.journal().isEmpty)
            try await bob.store.settled()
        }
    }

    // MARK: Permissions

    /// An observer of commits after which a row shows that may not be changed yet.
    private final class EarlyRows: TransactionObserver, Sendable {
        let found = Mutex<[String]>([])

        func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ database: Database) {}

        func databaseDidCommit(_ database: Database) {
            let rows = try? String.fetchAll(
                database,
                sql: """
                    SELECT tbl || ' ' || key FROM grdb_cloudkit_place WHERE writes = 0 AND (
                        (tbl = 'folder' AND key IN (SELECT id FROM folder))
                        OR (tbl = 'note' AND key IN (SELECT id FROM note)))
                    """
            )
            found.withLock { $0 += rows ?? ["an unreadable file"] }
        }
    }

    @Test("A row comes together with the right to change it")
    func permissionWithRow() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let early = EarlyRows()
            bob.database.add(transactionObserver: early, extent: .observerLifetime)
            // Into the tree, below a row that comes with it, and with a share of its own.
            try await ada.run(
                """
                INSERT INTO folder VALUES ('z', 'Above', 'trip'), ('a', 'Below', 'z');
                INSERT INTO note (id, folder) VALUES ('p', 'a');
                UPDATE folder SET parent = 'a' WHERE id = 'lone';
                INSERT INTO folder VALUES ('own', 'Own', NULL);
                """
            )
            try await settle(ada, bob)
            try await friends.accept(friends.share("own", cleo: nil), bob)
            #expect(try await bob.value(Self.folders) == "a,deep,lone,own,sub,trip,z")
            #expect(early.found.withLock(\.self) == [])
            // A right that is taken away goes with the share.
            try await friends.share(bob: .readOnly, cleo: nil)
            try await bob.store.sync()
            #expect(try await !bob.store.canWrite("p", in: "note"))
            #expect(try await bob.store.canWrite("own", in: "folder"))
        }
    }

    @Test("The rows of a share with many pages come together with the right to change them")
    func permissionWithManyRows() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run(
                """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
                    INSERT INTO note (id, folder) SELECT 'many' || i, 'lone' FROM n
                """
            )
            try await ada.store.sync()
            let early = EarlyRows()
            bob.database.add(transactionObserver: early, extent: .observerLifetime)
            try await friends.accept(friends.share("lone", cleo: nil), bob)
            #expect(try await bob.value("SELECT count(*) FROM note") == "902")
            #expect(early.found.withLock(\.self) == [])
            try await bob.store.settled()
        }
    }

    @Test("A row that moves to where one may only read loses the right to change it with the move")
    func permissionWithMove() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.accept(friends.share("lone", bob: .readOnly, cleo: nil), bob)
            #expect(try await bob.store.canWrite("o", in: "note"))
            try await ada.run("UPDATE folder SET parent = 'lone' WHERE id = 'sub'")
            try await settle(ada, bob)
            for (key, table) in [("sub", "folder"), ("deep", "folder"), ("o", "note")] {
                #expect(try await !bob.store.canWrite(key, in: table))
            }
            try await ada.run("UPDATE folder SET parent = 'trip' WHERE id = 'deep'")
            try await settle(ada, bob)
            #expect(try await bob.store.canWrite("o", in: "note"))
            #expect(try await !bob.store.canWrite("n", in: "note"))
        }
    }

    // MARK: Explanations

    @Test("While a deletion waits to be sent, what arrives below its row says so")
    func explanation() async throws {
        try await Self.withFriends { friends in
            let (phone, transport) = try await Self.phone(friends)
            try await phone.run("DELETE FROM folder WHERE id = 'sub'")
            try await friends.ada.run("INSERT INTO note (id, folder) VALUES ('late', 'deep')")
            try await friends.ada.store.sync()
            for _ in 0..<20 { transport.fail("records/modify", .cut) }
            await #expect(throws: CKError.self) { try await phone.store.sync() }
            let status = try await phone.store.status
            #expect(
                status.explanation.contains(
                    "The row 'late' of 'note' waits for the record 'folder:deep', which is deleted here; "
                        + "the next sync sends that."
                ),
                "\(status.explanation)"
            )
            #expect(status.inaccessibleReferenceCount == 0)
            #expect(status.waitingRows.map(\.isTargetDeleted) == [true])
            transport.script.withLock { $0.faults = [] }
            try await settle(phone, friends.ada)
            try await phone.store.settled()
        }
    }
}
