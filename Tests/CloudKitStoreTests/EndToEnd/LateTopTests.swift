import CloudKit
import CloudKitStore
import CloudKitTesting
import Support
import Testing

@Suite("The top of a share shows where it is once the row above shows", .timeLimit(.minutes(5)))
struct LateTopTests {
    typealias Friends = SharingTests.Friends

    /// Runs a test with the folder 'low' in 'up', which is in 'hid', in which others are not.
    private static func withFriends(
        _ body: @Sendable (Friends) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud)
            try await friends.ada.run(
                "INSERT INTO folder VALUES ('hid', 'Hidden', NULL), ('up', 'Up', 'hid'), ('low', 'Low', 'up')"
            )
            try await friends.ada.store.sync()
            try await body(friends)
        }
    }

    private static func places(_ device: Device) async throws -> String? {
        try await device.value(
            "SELECT group_concat(id || ':' || coalesce(parent, '')) "
                + "FROM (SELECT * FROM folder ORDER BY id)"
        )
    }

    /// The permissions that Bob has.
    static let permissions: [CKShare.ParticipantPermission] = [.readWrite, .readOnly]

    @Test("Whatever is shared first, and whatever a device fetches first", arguments: permissions)
    func joins(_ permission: CKShare.ParticipantPermission) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let early = try await friends.device(of: 1)
            try await friends.accept(friends.share("low", bob: permission, cleo: nil), bob)
            try await early.store.sync()
            #expect(try await Self.places(early) == "low:")
            try await friends.accept(friends.share("up", bob: permission, cleo: nil), bob)
            // One that was there before, and one that fetches all at once.
            let late = try await friends.device(of: 1)
            for device in [bob, early, late] {
                try await device.store.sync()
                #expect(try await Self.places(device) == "low:up,up:")
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
                #expect(try await device.store.journal().isEmpty)
            }
            #expect(try await Self.places(ada) == "hid:,low:up,up:hid")
        }
    }

    @Test("Also on a device that was closed with what it had fetched, and opened again")
    func reopened() async throws {
        try await Self.withFriends { friends in
            let bob = friends.bob
            let phone = try await friends.device(of: 1)
            try await friends.accept(friends.share("low", cleo: nil), bob)
            try await phone.store.sync()
            await phone.store.stop()
            try await friends.accept(friends.share("up", cleo: nil), bob)
            let opened = try await Device(
                friends.cloud,
                friends.users[1],
                database: phone.database,
                configuration: SharingTests.configuration
            )
            try await opened.store.sync()
            for device in [bob, opened] {
                #expect(try await Self.places(device) == "low:up,up:")
            }
        }
    }

    @Test("A chain of tops shows as a whole")
    func chain() async throws {
        try await Self.withFriends { friends in
            try await friends.ada.run(
                "INSERT INTO folder VALUES ('a', 'A', 'low'), ('z', 'Z', 'a')"
            )
            for folder in ["z", "a", "low", "up"] {
                try await friends.accept(friends.share(folder, cleo: nil), friends.bob)
            }
            let phone = try await friends.device(of: 1)
            try await phone.store.sync()
            for device in [friends.bob, phone] {
                #expect(try await Self.places(device) == "a:low,low:up,up:,z:a")
            }
        }
    }
}
