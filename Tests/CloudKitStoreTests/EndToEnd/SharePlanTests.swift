import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("What sharing a row would share", .timeLimit(.minutes(5)))
struct SharePlanTests {
    private static let schema = """
        CREATE TABLE track (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL,
            similar TEXT REFERENCES track (id) ON DELETE SET NULL
        );
        CREATE TABLE playlist (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL,
            cover TEXT REFERENCES track (id) ON DELETE SET NULL
        );
        CREATE TABLE playlist_track (
            playlist TEXT NOT NULL REFERENCES playlist (id) ON DELETE CASCADE,
            track TEXT NOT NULL REFERENCES track (id) ON DELETE CASCADE,
            PRIMARY KEY (playlist, track)
        );
        CREATE TABLE comment (
            id TEXT PRIMARY KEY NOT NULL,
            playlist TEXT NOT NULL REFERENCES playlist (id) ON DELETE CASCADE, text TEXT,
            track TEXT REFERENCES track (id) ON DELETE SET NULL
        );
        """

    private static let tables: [SyncedTable] = [
        .table("track"), .table("playlist"), .table("playlist_track"),
        .table("comment"),
    ]

    private static let rows = """
        INSERT INTO track VALUES ('t1', 'One', NULL), ('t2', 'Two', 't1');
        INSERT INTO playlist VALUES ('p', 'Songs', 't1');
        INSERT INTO playlist_track VALUES ('p', 't1'), ('p', 't2');
        INSERT INTO comment VALUES ('c', 'p', 'Nice', 't2');
        """

    @Test("A many-to-many table's rows stay behind, and the plan names the rows that they need")
    func plan() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await Device(
                cloud,
                cloud.addUser(),
                tables: Self.tables,
                schema: Self.schema
            )
            try await ada.run(Self.rows)
            let plan = try await ada.store.sharePlan(of: "p", in: "playlist")
            #expect(plan.shared.map { "\($0.table) \($0.key)" } == ["playlist p", "comment c"])
            #expect(!plan.isComplete)
            let staying = plan.excludedRows.map {
                "\($0.row.key) \($0.columns) \($0.target.table) \($0.target.key)"
            }
            #expect(
                staying.sorted() == [
                    "[\"p\",\"t1\"] [\"track\"] track t1", "[\"p\",\"t2\"] [\"track\"] track t2",
                ]
            )
            let hidden = plan.hidden.map { "\($0.row.table) \($0.columns) \($0.target.key)" }
            #expect(
                hidden.sorted() == [
                    "comment [\"track\"] t2",
                    "playlist [\"cover\"] t1",
                ]
            )
            let error = await #expect(throws: CloudStoreError.self) {
                try await ada.store.sharePlan(of: "none", in: "playlist")
            }
            #expect(error?.code == .noSuchRow)
        }
    }

    @Test("Sharing refuses to leave rows behind, or goes on, and the status names what is lacking")
    func refusal() async throws {
        try await CloudFixture.inProcess.run { cloud in
            func device(_ name: String) async throws -> Device {
                try await Device(
                    cloud,
                    cloud.addUser(name),
                    tables: Self.tables,
                    schema: Self.schema,
                    configuration: SharingTests.configuration
                )
            }
            let (ada, bob) = (try await device("Ada"), try await device("Bob"))
            try await ada.run(Self.rows)
            let error = await #expect(throws: CloudStoreError.self) {
                try await ada.store.share("p", in: "playlist")
            }
            #expect(error?.code == .incompleteShare)
            #expect(error?.message.contains("'track'") == true)
            let share = try await ada.store.share(
                "p",
                in: "playlist",
                ifIncomplete: .shareOthers
            ) { $0.publicPermission = .readWrite }
            // An existing share stays, and its permissions can be changed.
            try await ada.store.share("p", in: "playlist") { $0.publicPermission = .readOnly }
            let url = try #require(share.url)
            try await bob.store.accept(bob.container.shareMetadata(for: url))
            let shown = try await bob.value("SELECT name || coalesce(cover, '-') FROM playlist")
            #expect(shown == "Songs-")
            #expect(try await bob.value("SELECT text FROM comment") == "Nice")
            let status = try await bob.store.status
            let lines = status.explanation.filter { $0.contains("lacks the record 'track:") }
            // Two hidden entries, and the playlist, whose cover shows as NULL.
            #expect(lines.count == 3)
            #expect(lines.allSatisfy { $0.hasSuffix("which its owner does not share.") })
        }
    }
}
