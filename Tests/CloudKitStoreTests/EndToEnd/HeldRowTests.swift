import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

/// A row that another needs by a reference without an action cannot be deleted with the row above it.
@Suite("What is put below a row that somebody deletes meanwhile", .timeLimit(.minutes(5)))
struct HeldRowTests {
    private static let tables: [SyncedTable] = [
        .table("folder"), .table("note"), .table("pin", parent: "folder"), .table("loan"),
    ]

    private static func schema(_ action: String) -> String {
        """
        CREATE TABLE folder (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '',
            parent TEXT REFERENCES folder (id) ON DELETE CASCADE ON UPDATE CASCADE
        );
        CREATE TABLE note (
            id TEXT PRIMARY KEY NOT NULL,
            folder TEXT REFERENCES folder (id) ON DELETE \(action) ON UPDATE CASCADE
        );
        CREATE TABLE pin (
            id TEXT PRIMARY KEY NOT NULL,
            folder TEXT REFERENCES folder (id) ON DELETE SET NULL ON UPDATE CASCADE,
            note TEXT NOT NULL REFERENCES note (id) ON UPDATE CASCADE
        );
        CREATE TABLE loan (id TEXT PRIMARY KEY NOT NULL, note TEXT NOT NULL REFERENCES note (id));
        """
    }

    /// Ada, who shares the folder 'a' with 'b' and 'deep' in it, and Bob, with two devices each.
    private struct People: Sendable {
        var (ada, laptop, bob, phone): (Device, Device, Device, Device)
        var all: [Device] { [ada, laptop, bob, phone] }
        var bobs: [Device] { [bob, phone] }
    }

    private static func withPeople(
        _ action: String = "CASCADE",
        _ body: @Sendable (People) async throws -> Void
    ) async throws {
        let schema = schema(action)
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await SharingTests.Friends(cloud, tables: tables, schema: schema)
            func second(_ user: Int) async throws -> Device {
                try await Device(
                    cloud,
                    friends.users[user],
                    tables: tables,
                    schema: schema,
                    configuration: SharingTests.configuration
                )
            }
            try await friends.ada.run(
                """
                INSERT INTO folder (id, parent) VALUES ('a', NULL), ('b', 'a'), ('deep', 'b');
                INSERT INTO note VALUES ('lent', NULL), ('free', NULL);
                INSERT INTO loan VALUES ('l', 'lent');
                """
            )
            try await friends.ada.store.sync()
            try await friends.accept(friends.share("a", cleo: nil), friends.bob)
            let people = People(
                ada: friends.ada,
                laptop: try await second(0),
                bob: friends.bob,
                phone: try await second(1)
            )
            for device in people.all { try await device.store.sync() }
            try await body(people)
        }
    }

    private static func shown(_ device: Device) async throws -> String {
        try await device.value(
            """
            SELECT group_concat(line, ' ') FROM (
                SELECT id AS line FROM folder
                UNION SELECT id || ':' || coalesce(folder, '') FROM note
                UNION SELECT id || ':' || note FROM pin UNION SELECT id || ':' || note FROM loan
                ORDER BY line)
            """
        ) ?? ""
    }

    /// Syncs the device that deleted first, and checks that everything came to rest.
    private static func expect(
        _ owners: String,
        _ members: String,
        _ people: People,
        from device: Device
    ) async throws {
        try await device.store.sync()
        for _ in 0..<2 { for device in people.all { try await device.store.sync() } }
        for device in [people.ada, people.laptop] { #expect(try await shown(device) == owners) }
        for device in people.bobs { #expect(try await shown(device) == members) }
        for device in people.all {
            #expect(try await device.store.verify().differences == [])
            try await device.store.settled()
            #expect(try await device.store.status.inaccessibleReferenceCount == 0)
        }
    }

    /// A note that Ada puts below the folder 'b', or the folder in it, and that a loan needs.
    struct Held: Sendable {
        var sql: String
        var folder: String
        var key: String

        /// The owner's rows besides the folders.
        var rows: String {
            key == "new" ? "free: l:lent lent: m:new new:" : "free: l:lent lent:"
        }
    }

    static let inFolder = [
        Held(sql: "UPDATE note SET folder = 'b' WHERE id = 'lent'", folder: "b", key: "lent"),
        Held(
            sql: "INSERT INTO note VALUES ('new', 'b'); INSERT INTO loan VALUES ('m', 'new')",
            folder: "b",
            key: "new"
        ),
    ]

    static let held =
        inFolder + [
            Held(
                sql: "UPDATE note SET folder = 'deep' WHERE id = 'lent'",
                folder: "deep",
                key: "lent"
            )
        ]

    /// Bob's deletions, with the folders that are left.
    static let deletions =
        held.map { (held: $0, sql: "DELETE FROM folder WHERE id = 'b'", folders: "a") }
        + inFolder.map {
            (held: $0, sql: "UPDATE folder SET id = 'c' WHERE id = 'b'", folders: "a c deep")
        }

    @Test(
        "A member's deletion of the row above goes on, and the owner keeps what is needed",
        arguments: deletions
    )
    func member(_ deletion: (held: Held, sql: String, folders: String)) async throws {
        try await Self.withPeople { people in
            let (held, folders) = (deletion.held, deletion.folders)
            try await people.ada.run(held.sql)
            try await people.ada.store.sync()
            try await people.bob.run(deletion.sql)
            let all = (folders.split(separator: " ") + held.rows.split(separator: " ")).sorted()
            try await Self.expect(
                all.joined(separator: " "),
                folders,
                people,
                from: people.bob
            )
            let journal = try await people.bob.store.journal()
            #expect(journal.map(\.rule) == ["reference"] && journal.map(\.key) == [held.key])
            let lost = StoreValue.reference("folder:\(held.folder)")
            #expect(journal.map(\.lost) == [["folder": lost]])
            // The note is out of sight: a row of Bob's own would keep it out.
            let entry = try #require(journal.first)
            let error = await #expect(throws: CloudStoreError.self) {
                try await people.bob.store.restore(entry)
            }
            #expect(error?.message.contains("another user shares") == true)
        }
    }

    @Test(
        "The owner's other device keeps it as well, and says that the reference was lost",
        arguments: held
    )
    func owner(_ held: Held) async throws {
        try await Self.withPeople { people in
            try await people.ada.run(held.sql)
            try await people.ada.store.sync()
            try await people.laptop.run("DELETE FROM folder WHERE id = 'b'")
            try await Self.expect("a \(held.rows)", "a", people, from: people.laptop)
            let journal = try await people.laptop.store.journal()
            #expect(journal.map(\.rule) == ["reference"] && journal.map(\.key) == [held.key])
            let lost = StoreValue.reference("folder:\(held.folder)")
            #expect(journal.map(\.lost) == [["folder": lost]])
            #expect(journal.map(\.kept) == [["folder": .null]])
        }
    }

    @Test("What nothing needs goes with the row above, and is in the journal", arguments: [0, 1])
    func notHeld(_ user: Int) async throws {
        try await Self.withPeople { people in
            try await people.ada.run(
                "INSERT INTO note VALUES ('new', 'b'); UPDATE note SET folder = 'b' WHERE id = 'free'"
            )
            try await people.ada.store.sync()
            let device = user == 0 ? people.laptop : people.bob
            try await device.run("DELETE FROM folder WHERE id = 'b'")
            try await Self.expect("a l:lent lent:", "a", people, from: device)
            #expect(try await device.store.journal().map(\.rule) == ["cascade", "cascade"])
        }
    }

    @Test("A reference that the schema clears is cleared by a member's deletion, too")
    func setNull() async throws {
        try await Self.withPeople("SET NULL") { people in
            try await people.ada.run("INSERT INTO note VALUES ('new', 'b')")
            try await people.ada.store.sync()
            try await people.bob.run("DELETE FROM folder WHERE id = 'b'")
            try await Self.expect("a free: l:lent lent: new:", "a", people, from: people.bob)
            for device in people.all { #expect(try await device.store.journal().isEmpty) }
        }
    }

    @Test("A deletion is reverted that a row forbids which the member cannot see or change")
    func hidden() async throws {
        try await Self.withPeople { people in
            // The pin needs a note that is not shared, and refers to the folder by a reference that the
            // schema clears.
            try await people.ada.run("INSERT INTO pin VALUES ('p', 'deep', 'free')")
            try await people.ada.store.sync()
            try await people.bob.run("DELETE FROM folder WHERE id = 'b'")
            for _ in 0..<2 {
                try await people.bob.store.sync()
                for device in people.all { try await device.store.sync() }
            }
            for device in [people.ada, people.laptop] {
                #expect(try await Self.shown(device) == "a b deep free: l:lent lent: p:free")
            }
            for device in people.bobs { #expect(try await Self.shown(device) == "a b deep") }
            let journal = try await people.bob.store.journal()
            #expect(Set(journal.map(\.key)) == ["b", "deep"] && journal.count == 2)
            #expect(journal.allSatisfy { $0.rule == "access" && $0.lost.isEmpty })
            for device in people.all {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }
}
