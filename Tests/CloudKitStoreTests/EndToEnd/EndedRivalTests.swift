import CloudKit
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient
import GRDB
import Support
import Testing

@Suite("A share ends whose rows had UNIQUE values of others", .timeLimit(.minutes(5)))
struct EndedRivalTests {
    typealias Friends = SharingTests.Friends

    /// A schema in which the names of folders are unique, and their labels are not.
    static let schema =
        TakenKeyTests.schema.replacing(
            "CREATE TABLE note",
            with: """
                CREATE UNIQUE INDEX folderName ON folder (name);
                ALTER TABLE folder ADD COLUMN label TEXT;
                ALTER TABLE folder ADD COLUMN place TEXT;
                CREATE TABLE note
                """
        ) + "ALTER TABLE note ADD COLUMN related TEXT REFERENCES note (id) ON DELETE SET NULL;"

    /// Opens another device of Bob's, whose requests can be cut off.
    static func phone(
        _ friends: Friends,
        transport: (any Transport) -> any Transport = { $0 }
    ) async throws -> Device {
        try await Device(
            friends.cloud,
            friends.users[1],
            schema: schema,
            configuration: SharingTests.configuration,
            transport: transport
        )
    }

    static func folders(_ device: Device) async throws -> String? {
        try await device.value(
            """
            SELECT group_concat(id || name || coalesce(label, '') || coalesce(place, ''))
            FROM (SELECT * FROM folder ORDER BY id)
            """
        )
    }

    /// Runs a test with folders that two owners share with Bob, the first by name first.
    static func withOwners(
        _ names: (first: String, second: String),
        _ body: @Sendable (Friends, _ owners: [Device], _ phone: Device) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: schema)
            let phone = try await phone(friends)
            let owners = zip([friends.ada, friends.cleo], [friends.users[0], friends.users[2]])
                .sorted { $0.1.recordName < $1.1.recordName }.map(\.0)
            for (owner, (id, name)) in zip(owners, [("a", names.first), ("b", names.second)]) {
                try await owner.run(
                    """
                    INSERT INTO folder (id, name) VALUES ('top\(id)', 'Top \(id)');
                    INSERT INTO folder (id, name, parent) VALUES ('\(id)', '\(name)', 'top\(id)');
                    """
                )
                try await owner.store.sync()
                let share = try await owner.store.share("top\(id)", in: "folder") {
                    $0.publicPermission = .readWrite
                }
                try await friends.accept(share, friends.bob)
            }
            try await settle(friends.bob, phone)
            try await body(friends, owners, phone)
        }
    }

    /// The end of the share whose folder shows.
    enum End: CaseIterable {
        case ownerEndsIt
        case memberLeaves
        case memberLeavesElsewhere
    }

    @Test(
        "When the share of the row that shows ends, the other one comes at once",
        arguments: End.allCases
    )
    func shareEnds(_ end: End) async throws {
        try await Self.withOwners(("Same", "Same")) { friends, owners, phone in
            let bob = friends.bob
            for device in [bob, phone] {
                #expect(try await Self.folders(device) == "aSame,topaTop a,topbTop b")
                #expect(try await device.store.status.quarantined.map(\.key) == ["b"])
            }
            switch end {
            case .ownerEndsIt: try await owners[0].store.unshare("topa", in: "folder")
            case .memberLeaves: try await bob.store.leave("topa", in: "folder")
            case .memberLeavesElsewhere: try await phone.store.leave("topa", in: "folder")
            }
            for device in [bob, phone] {
                try await device.store.sync()
                #expect(try await Self.folders(device) == "bSame,topbTop b")
                #expect(try await device.store.status.isSettled)
            }
        }
    }

    @Test("When the user's own zone is deleted, the shared rows come whose values own rows had")
    func zoneEnds() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Self.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run("INSERT INTO folder (id, name) VALUES ('trip', 'Food')")
            try await ada.store.sync()
            try await bob.run("INSERT INTO folder (id, name) VALUES ('own', 'Food')")
            try await bob.store.sync()
            try await friends.accept(friends.share(cleo: nil), bob)
            #expect(try await Self.folders(bob) == "ownFood")
            try await bob.cloud.deleteRecordZone(withID: Device.zoneID)
            try await bob.store.sync()
            #expect(try await Self.folders(bob) == "tripFood")
        }
    }
}
