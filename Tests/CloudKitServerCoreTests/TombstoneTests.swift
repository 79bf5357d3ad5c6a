import CloudKitServerCore
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Tombstones", .overHTTP)
struct TombstoneTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User
    private static let retention: Int64 = 40 * 86_400

    init() async throws {
        var configuration = ServiceConfiguration(webTokenSeconds: 1000 * 86_400)
        configuration.tombstoneSeconds = Self.retention
        cloud = try await FixtureCloud(configuration: configuration)
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func modify(_ kind: String, _ names: String...) async throws {
        let response = try await cloud.modify(as: ada, names.map { FixtureCloud.note(kind, $0) })
        try #require(response.records.allSatisfy { $0.serverErrorCode == nil })
    }

    private func deleted(after token: JSON = nil) async throws -> [JSON] {
        try await cloud.changes(as: ada, after: token).records.elements
            .filter { $0.deleted == true }.map(\.recordName)
    }

    @Test("A tombstone stays for the whole retention, and goes with the next cleaning")
    func retention() async throws {
        try await modify("create", "a", "b")
        let before = try await cloud.changes(as: ada).syncToken
        try await modify("forceDelete", "a")
        cloud.clock.advance(seconds: Self.retention)
        try await cloud.service.clean()
        #expect(try await deleted(after: before) == ["a"])
        cloud.clock.advance(seconds: 1)
        try await cloud.service.clean()
        #expect(try await deleted() == [])
        #expect(try await cloud.changes(as: ada).records.elements.map(\.recordName) == ["b"])
    }

    @Test("A token from before a deletion that is forgotten has expired; a later one has not")
    func tokens() async throws {
        try await modify("create", "a", "b")
        let old = try await cloud.changes(as: ada).syncToken
        try await modify("forceDelete", "a")
        let informed = try await cloud.changes(as: ada).syncToken
        cloud.clock.advance(seconds: Self.retention + 1)
        try await modify("create", "c")
        try await cloud.service.clean()
        let expired = try await cloud.changes(as: ada, after: old)
        #expect(expired.serverErrorCode == "CHANGE_TOKEN_EXPIRED")
        #expect(expired.reason.text?.contains("start without one") == true)
        let current = try await cloud.changes(as: ada, after: informed)
        #expect(current.records.elements.map(\.recordName) == ["c"])
        let older = try await cloud.call(
            "records/changes",
            as: ada,
            ["zoneID": FixtureCloud.zone("Notes"), "syncToken": old]
        )
        #expect(older.code == "CHANGE_TOKEN_EXPIRED")
    }

    @Test(
        "Whoever begins to read a zone that has forgotten deletions gets to its end, page by page"
    )
    func pages() async throws {
        try await modify("create", "a", "b", "c", "d")
        try await modify("forceDelete", "d")
        cloud.clock.advance(seconds: Self.retention + 1)
        try await cloud.service.clean()
        var (names, token, hasMore) = ([JSON](), JSON.null, true)
        while hasMore, names.count < 10 {
            var zone: [String: JSON] = ["zoneID": FixtureCloud.zone("Notes"), "resultsLimit": 1]
            if token != .null { zone["syncToken"] = token }
            let body: JSON = ["zones": [.object(zone)]]
            let page = try await cloud.call("changes/zone", as: ada, body).body.zones[0]
            try #require(page.serverErrorCode == nil, "\(page)")
            names += page.records.elements.map(\.recordName)
            (token, hasMore) = (page.syncToken, page.moreComing == true)
        }
        #expect(names == ["a", "b", "c"])
    }

    @Test("A token of an empty zone never expires by deletions: who knew nothing misses nothing")
    func beginning() async throws {
        let start = try await cloud.changes(as: ada).syncToken
        try await modify("create", "a", "b")
        try await modify("forceDelete", "a")
        cloud.clock.advance(seconds: Self.retention + 1)
        try await cloud.service.clean()
        let changes = try await cloud.changes(as: ada, after: start)
        #expect(changes.records.elements.map(\.recordName) == ["b"])
    }

    @Test("A name whose tombstone is gone can be taken again")
    func names() async throws {
        try await modify("create", "a")
        try await modify("forceDelete", "a")
        cloud.clock.advance(seconds: Self.retention + 1)
        try await cloud.service.clean()
        let token = try await cloud.changes(as: ada).syncToken
        try await modify("create", "a")
        let changes = try await cloud.changes(as: ada, after: token).records
        #expect(changes[0].recordName == "a" && changes[0].deleted == false)
    }

    @Test("More tombstones than one commit takes all go, parents behind their children")
    func many() async throws {
        for start in stride(from: 0, to: 600, by: 200) {
            let made = try await cloud.modify(
                as: ada,
                (start..<start + 200).map { number in
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": .string("n\(number)"), "recordType": "Note",
                            "parent": number % 10 == 0
                                ? nil : ["recordName": .string("n\(number - 1)")],
                        ],
                    ]
                }
            )
            try #require(made.records.allSatisfy { $0.serverErrorCode == nil }, "\(made)")
            _ = try await cloud.modify(
                as: ada,
                (start..<start + 200).reversed().map { FixtureCloud.note("forceDelete", "n\($0)") }
            )
        }
        #expect(try await deleted().count == 200)
        cloud.clock.advance(seconds: Self.retention + 1)
        try await cloud.service.clean()
        #expect(try await deleted() == [])
    }

    /// Returns the names that are reported to a user as deleted.
    private func deleted(
        _ world: SharedTrees,
        by user: FixtureCloud.User
    ) async throws -> Set<String> {
        let body: JSON = ["zones": [["zoneID": world.zoneID]]]
        let response = try await world.cloud.call("changes/zone", .shared, as: user, body)
        let records = response.body.zones[0].records.elements
        return Set(records.filter { $0.deleted == true }.compactMap(\.recordName.text))
    }

    @Test("A participant is notified of what was deleted in the share, and of nothing else")
    func shares() async throws {
        let world = try await SharedTrees()
        func ada(_ operations: JSON...) async throws {
            let response = try await world.cloud.modify(as: world.ada, operations)
            try #require(response.records.allSatisfy { $0.serverErrorCode == nil }, "\(response)")
        }
        func delete(_ names: String...) async throws {
            let response = try await world.cloud.modify(
                as: world.ada,
                names.map { FixtureCloud.note("forceDelete", $0) }
            )
            try #require(response.records.allSatisfy { $0.deleted == true }, "\(response)")
        }
        // Deleted before there was a share.
        try await ada(
            SharedTrees.save("create", "d"),
            SharedTrees.save("create", "dismissal", below: "d"),
            SharedTrees.save("create", "kid", below: "d")
        )
        try await delete("dismissal")
        try await world.share("d", with: world.eve, "READ_ONLY")
        #expect(try await deleted(world, by: world.eve) == [])
        try await delete("kid")
        #expect(try await deleted(world, by: world.eve) == ["kid"])
        // Deleted below a record that enters a share later.
        try await ada(
            SharedTrees.save("create", "p"),
            SharedTrees.save("create", "draft", below: "p")
        )
        try await delete("draft")
        try await ada(SharedTrees.save("forceUpdate", "p", below: "d"))
        #expect(try await world.seen(by: world.eve).contains("p"))
        #expect(try await deleted(world, by: world.eve) == ["kid"])
        // Deleted in a share, below a record that leaves it later.
        try await ada(SharedTrees.save("create", "leaf", below: "p"))
        try await delete("leaf")
        try await ada(SharedTrees.save("forceUpdate", "p", below: "a"))
        #expect(try await deleted(world, by: world.eve) == ["kid", "leaf", "p"])
        #expect(try await deleted(world, by: world.bob) == [])
        // An entire branch, from its end up.
        try await delete("b1")
        try await ada(SharedTrees.save("create", "b1", below: "b"))
        #expect(try await deleted(world, by: world.eve) == ["kid", "leaf", "p"])
    }

    @Test("A participant of a whole zone is notified of what was deleted since it is shared")
    func zoneShare() async throws {
        let bob = try await cloud.addUser("Bob")
        try await modify("create", "a", "b", "c")
        try await modify("forceDelete", "a")
        let participant: JSON = [
            "permission": "READ_ONLY", "userIdentity": ["userRecordName": .string(bob.name)],
        ]
        let share: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share",
                "participants": [participant],
            ],
        ]
        let made = try await cloud.modify(as: ada, [FixtureCloud.note("forceDelete", "b"), share])
        let guid = made.records[1].shortGUID
        _ = try await cloud.call(
            "records/accept",
            .public,
            as: bob,
            ["shortGUIDs": [["value": guid]]]
        )
        try await modify("forceDelete", "c")
        let zone: JSON = ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
        let feed = try await cloud.call(
            "changes/zone",
            .shared,
            as: bob,
            ["zones": [["zoneID": zone]]]
        )
        let gone = feed.body.zones[0].records.elements.filter { $0.deleted == true }
        #expect(gone.map(\.recordName) == ["c"])
    }
}
