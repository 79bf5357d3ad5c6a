import CloudKit
import CloudKitStore
import GRDB
import Support
import Testing

@Suite("References to rows that their owner deleted", .timeLimit(.minutes(10)))
struct GoneTests {
    typealias Friends = SharingTests.Friends

    private static let tables: [SyncedTable] = [.table("folder"), .table("note", parent: "folder")]

    /// Runs a test with two shared folders: x in one refers to c in the other.
    private static func withFriends(
        _ rule: String,
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
                origin TEXT \(parts.count > 1 ? "NOT NULL" : "")
                    REFERENCES note (id) \(parts.last ?? ""),
                folder TEXT REFERENCES folder (id) ON DELETE CASCADE
            );
            """
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, tables: tables, schema: schema)
            try await friends.ada.run(
                """
                INSERT INTO folder (id) VALUES ('a'), ('b');
                INSERT INTO note VALUES ('c', 'Target', 'c', 'b'), ('x', 'Other', 'c', 'a'),
                    ('y', 'Alone', 'y', 'a');
                """
            )
            try await friends.ada.store.sync()
            for folder in ["a", "b"] {
                try await friends.accept(
                    friends.share(folder, bob: .readWrite, cleo: nil),
                    friends.bob
                )
            }
            try await settle(friends.ada, friends.bob)
            try await body(friends)
        }
    }

    /// Returns each note with its references.
    private static func notes(_ device: Device) async throws -> String {
        try await device.value(
            "SELECT group_concat(id || ':' || coalesce(origin, ''), ',') "
                + "FROM (SELECT * FROM note ORDER BY id)"
        ) ?? ""
    }

    private static func expect(_ notes: String, _ friends: Friends) async throws {
        try await settle(friends.ada, friends.bob, friends.ada)
        for device in [friends.ada, friends.bob] {
            #expect(try await Self.notes(device) == notes)
            #expect(try await device.store.verify().differences == [])
            try await device.store.settled()
            #expect(try await device.store.status.inaccessibleReferenceCount == 0)
        }
    }

    @Test(
        "An edit that survives a deletion goes with the deleted row that it refers to, or loses it",
        arguments: ["ON DELETE SET NULL", "ON DELETE CASCADE", "NOT NULL ON DELETE CASCADE"],
        ["DELETE FROM folder WHERE id = 'b'", "DELETE FROM note WHERE id = 'c'"]
    )
    func edited(_ rule: String, _ deletion: String) async throws {
        try await Self.withFriends(rule) { friends in
            try await friends.bob.run("UPDATE note SET title = 'Edited' WHERE id = 'x'")
            try await friends.bob.store.sync()
            try await friends.ada.run(deletion)
            let isCleared = rule == "ON DELETE SET NULL"
            try await Self.expect(isCleared ? "x:,y:y" : "y:y", friends)
            let title = try await friends.ada.value("SELECT title FROM note WHERE id = 'x'")
            #expect(title == (isCleared ? "Edited" : nil))
            let lost = try await friends.ada.store.journal().filter { $0.rule == "cascade" }
                .compactMap { $0.lost["title"] }
            #expect(isCleared || lost == [.text("Edited")])
        }
    }

    @Test("A row that was put below a deleted one goes, whatever else it refers to")
    func below() async throws {
        try await Self.withFriends("ON DELETE CASCADE") { friends in
            try await friends.bob.run("INSERT INTO note VALUES ('z', 'New', 'c', 'b')")
            try await friends.bob.store.sync()
            try await friends.ada.run("DELETE FROM folder WHERE id = 'b'")
            try await Self.expect("y:y", friends)
            let lost = try await friends.ada.store.journal().compactMap { $0.lost["title"] }
            #expect(lost.contains(.text("New")))
        }
    }

    @Test(
        "A reference that comes after the deletion of what it refers to is cleared, or its row goes",
        arguments: SightTests.rules,
        [false, true]
    )
    func late(_ rule: String, _ isHeard: Bool) async throws {
        try await Self.withFriends(rule) { friends in
            try await friends.ada.run("UPDATE note SET origin = 'x' WHERE id = 'x'")
            try await settle(friends.ada, friends.bob)
            let database = friends.bob.container.sharedCloudDatabase
            let zoneID = try await database.allRecordZones()[0].zoneID
            let id = CKRecord.ID(recordName: "note:y", zoneID: zoneID)
            let record = try await database.record(for: id)
            // The deletion is Ada's own, or one that she receives.
            let deleting = isHeard ? friends.bob : friends.ada
            try await deleting.run("DELETE FROM note WHERE id = 'c'")
            try await settle(deleting, friends.ada)
            record["origin"] = CKRecord.Reference(
                recordID: CKRecord.ID(recordName: "note:c", zoneID: zoneID),
                action: .none
            )
            try await database.save(record)
            let goes = rule.contains("CASCADE") || rule.contains("NOT NULL")
            try await Self.expect(goes ? "x:x" : "x:x,y:", friends)
        }
    }

    private static let pins: [SyncedTable] = ["folder", "note", "pin"].map {
        .table($0, parent: $0 == "folder" ? nil : "folder")
    }

    private static let pinSchema = """
        CREATE TABLE folder (id TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES folder (id) ON DELETE CASCADE);
        CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, folder TEXT REFERENCES folder (id) ON DELETE CASCADE);
        CREATE TABLE pin (
            id TEXT PRIMARY KEY NOT NULL, folder TEXT REFERENCES folder (id) ON DELETE CASCADE,
            note TEXT NOT NULL REFERENCES note (id)
        );
        """

    /// Runs a test with the folder 'b' in the folder 'a' that Ada shares with Bob, and a device of Ada
    /// that sends one record at a time.
    private static func withPins(
        _ body: @Sendable (_ ada: Device, _ bob: Device) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, tables: pins, schema: pinSchema)
            try await friends.ada.run(
                "INSERT INTO folder VALUES ('a', NULL), ('b', 'a'); INSERT INTO note VALUES ('n', 'b')"
            )
            try await friends.ada.store.sync()
            try await friends.accept(friends.share("a", cleo: nil), friends.bob)
            await friends.ada.store.stop()
            var configuration = SharingTests.configuration
            configuration.batchLimit = 1
            let ada = try await Device(
                cloud,
                friends.users[0],
                database: friends.ada.database,
                tables: pins,
                configuration: configuration
            )
            try await body(ada, friends.bob)
            for device in [ada, friends.bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("What came below a row that its owner deletes goes before it, one record at a time")
    func comesFirst() async throws {
        try await Self.withPins { ada, bob in
            try await bob.run("INSERT INTO pin VALUES ('p', 'b', 'n')")
            try await bob.store.sync()
            try await ada.run("DELETE FROM folder WHERE id = 'b'")
            try await settle(ada, bob)
            for device in [ada, bob] {
                #expect(try await device.value("SELECT group_concat(id) FROM folder") == "a")
                #expect(try await device.value("SELECT count(*) FROM note") == "0")
                #expect(try await device.value("SELECT count(*) FROM pin") == "0")
            }
            #expect(try await ada.store.journal().map(\.rule) == ["reference"])
        }
    }

    @Test("A row that another needs stays when the row above it is deleted, and holds nothing up")
    func needed() async throws {
        try await Self.withPins { ada, bob in
            try await bob.run(
                "INSERT INTO note VALUES ('m', 'b'); INSERT INTO pin VALUES ('q', 'a', 'm')"
            )
            try await bob.store.sync()
            try await ada.run("DELETE FROM folder WHERE id = 'b'")
            try await settle(ada, bob, ada)
            for device in [ada, bob] {
                #expect(try await device.value("SELECT group_concat(id) FROM folder") == "a")
            }
            #expect(try await ada.value("SELECT id || coalesce(folder, '') FROM note") == "m")
            #expect(try await ada.value("SELECT id || folder || note FROM pin") == "qam")
            // Nobody shares the note now, and the pin cannot be without it.
            #expect(try await bob.value("SELECT count(*) FROM note") == "0")
            #expect(try await bob.value("SELECT count(*) FROM pin") == "0")
        }
    }
}
