import CloudKitServerCore
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
