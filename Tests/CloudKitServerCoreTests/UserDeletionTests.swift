import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Users who are deleted")
struct UserDeletionTests {
    private func bytes(_ cloud: FixtureCloud) async throws -> (zones: Int, bytes: Int64) {
        let environments = try await cloud.service.overview().flatMap(\.environments)
        return (
            environments.reduce(0) { $0 + $1.zones }, environments.reduce(0) { $0 + $1.bytes }
        )
    }

    @Test("All that is theirs goes, and participants see the shared zone as deleted")
    func deletion() async throws {
        let trees = try await SharedTrees()
        let (cloud, ada, bob) = (trees.cloud, trees.ada, trees.bob)
        let note = FixtureCloud.note("create", "post", ["title": ["value": "stays"]])
        _ = try await cloud.modify("_defaultZone", as: ada, database: .public, [note])
        try await cloud.service.setPassword("a long password", of: ada.user)
        func changes(after token: JSON = .null) async throws -> JSON {
            let body: JSON = ["syncToken": token]
            return try await cloud.call("changes/database", .shared, as: bob, body).body
        }
        let token = try await changes().syncToken
        let zones = try await bytes(cloud).zones

        try await cloud.service.deleteUser(ada.user)
        let refused = try await cloud.call("zones/list", as: ada)
        #expect((refused.status, refused.code) == (421, "AUTHENTICATION_REQUIRED"))
        let names = try await cloud.service.users(container: FixtureCloud.container)
        #expect(!names.map(\.userRecordName).contains(ada.name))
        let passwords = try await cloud.service.usersWithPassword(container: FixtureCloud.container)
        #expect(passwords.isEmpty)
        let told = try await changes(after: token).zones.elements
        #expect(told.map(\.zoneID.zoneName) == ["Notes"])
        #expect(told.map(\.zoneID.ownerRecordName) == [.string(ada.name)])
        #expect(told.map(\.deleted) == [true])
        #expect(try await trees.seen(by: bob) == [])
        let posts = try await cloud.lookUp(["post"], in: "_defaultZone", as: bob, database: .public)
        #expect(posts.records[0].fields.title.value == "stays")
        // The zone of their notes, and a default zone in each environment.
        #expect(try await bytes(cloud).zones == zones - 3)
        #expect(try await cloud.service.check().findings == [])
    }

    @Test("A snapshot from before does not bring back what was theirs")
    func snapshot() async throws {
        let trees = try await SharedTrees()
        let cloud = trees.cloud
        try await cloud.service.takeSnapshot("s", of: FixtureCloud.container)
        try await cloud.service.deleteUser(trees.ada.user)
        let left = try await bytes(cloud)
        try await cloud.service.restoreSnapshot("s", of: FixtureCloud.container)
        #expect(try await bytes(cloud) == left)
        try await cloud.service.resetContainer(FixtureCloud.container)
        #expect(try await bytes(cloud).zones == left.zones)
        #expect(try await trees.seen(by: trees.bob) == [])
        #expect(try await cloud.service.check().findings == [])
    }

    @Test("After another process has deleted a user nothing more is written for the user")
    func deletionElsewhere() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/cloud.sqlite"
        let note = FixtureCloud.note("create", "late", ["title": ["value": "x"]])
        let zone: JSON = ["operationType": "create", "zone": ["zoneID": FixtureCloud.zone("Late")]]
        let subscription: JSON = [
            "operationType": "create",
            "subscription": ["subscriptionID": "late", "subscriptionType": "database"],
        ]
        let device = "/device/1/\(FixtureCloud.container)/development/tokens/create"
        typealias Cloud = FixtureCloud
        typealias Ask = @Sendable (Cloud, Cloud.User) async throws -> Cloud.Response
        let asks: [(String, Ask)] = [
            ("private", { try await $0.modify("_defaultZone", as: $1, [note]) }),
            ("public", { try await $0.modify("_defaultZone", as: $1, database: .public, [note]) }),
            ("zone", { try await $0.call("zones/modify", as: $1, ["operations": [zone]]) }),
            (
                "subscription",
                {
                    let body: JSON = ["operations": [subscription]]
                    return try await $0.call("subscriptions/modify", as: $1, body)
                }
            ),
            (
                "token",
                { cloud, user in
                    try await cloud.send(
                        ConformanceRequest(
                            method: "POST",
                            path: device,
                            query: "ckAPIToken=\(cloud.apiToken)&ckWebAuthToken="
                                + FixtureCloud.escape(user.token),
                            body: Data(#"{"apnsEnvironment": "development"}"#.utf8)
                        )
                    )
                }
            ),
        ]
        let storage = try SQLiteStorage(path: path)
        let cloud = try await FixtureCloud(storage: storage)
        // A process of its own has a storage, and so a cache, of its own.
        let other = CloudService(
            storage: try SQLiteStorage(path: path),
            assets: try FileAssetStorage.temporary(),
            clock: cloud.clock,
            randomness: FixtureRandomness()
        )
        for (name, ask) in asks {
            let user = try await cloud.addUser(name)
            // The caller is known from now on.
            #expect(try await cloud.call("users/caller", as: user).status == 200, "\(name)")
            try await other.deleteUser(user.user)
            let before = try await bytes(cloud)
            let refused = try await ask(cloud, user)
            #expect(refused.status == 421, "\(name)")
            #expect(refused.code == "AUTHENTICATION_REQUIRED", "\(name): \(refused.body)")
            #expect(refused.body.redirectURL.text?.contains("/sign-in?") == true, "\(name)")
            let after = try await bytes(cloud)
            #expect(before == after, "\(name)")
            // The refusal ends the reads, too.
            #expect(try await cloud.call("users/caller", as: user).status == 421, "\(name)")
        }
        // Whoever is there goes on.
        let ada = try await cloud.addUser()
        let saved = try await cloud.modify("_defaultZone", as: ada, [note])
        #expect(saved.records[0].serverErrorCode == nil)
        #expect(try await cloud.service.check().findings == [])
    }

    @Test("A user who is not there is refused, and one may have the address of a deleted one")
    func unknown() async throws {
        let cloud = try await FixtureCloud()
        let (container, address) = (FixtureCloud.container, "grace@example.com")
        func add() async throws -> ServiceUser {
            try await cloud.service.addUser(
                container: container,
                name: "Grace",
                emailAddress: address
            )
        }
        let grace = try await add()
        try await cloud.service.deleteUser(grace)
        let error = await #expect(throws: RequestError.self) {
            try await cloud.service.deleteUser(grace)
        }
        #expect(error?.serverErrorCode == .notFound)
        #expect(try await add().userRecordName != grace.userRecordName)
    }
}
