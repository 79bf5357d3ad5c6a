import CloudKitServerCore
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Getting out of a shared tree", .overHTTP)
struct TreeAttackTests {
    let world: SharedTrees

    init() async throws {
        world = try await SharedTrees()
    }

    /// Expects that operations of Bob's are refused, and change nothing.
    private func refuse(
        _ operations: [JSON],
        _ codes: [JSON] = ["ACCESS_DENIED"],
        atomic: Bool = false,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try await world.everything()
        let response = try await world.modify(as: world.bob, atomic: atomic, operations)
        #expect(response.map(\.serverErrorCode) == codes, sourceLocation: location)
        #expect(try await world.everything() == before, sourceLocation: location)
    }

    @Test(
        "A record of one tree is moved into no other, by any operation",
        arguments: ["forceUpdate", "forceReplace", "update", "replace"],
        ["b", "b1", "c", "secret", "nowhere"]
    )
    func moves(kind: String, parent: String) async throws {
        let tag = try await world.cloud.lookUp(["a1"], as: world.ada).records[0].recordChangeTag
        let move = SharedTrees.save(kind, "a1", below: parent, [:], ["recordChangeTag": tag])
        try await refuse([move])
        #expect(try await world.seen(by: world.eve) == ["b", "b1", "share of b"])
    }

    @Test("A record is not made in one tree and then moved, in one batch or in two")
    func createAndMove() async throws {
        let made = try await world.modify(
            as: world.bob,
            [SharedTrees.save("create", "new", below: "a")]
        )
        #expect(made[0].serverErrorCode == nil)
        try await refuse([SharedTrees.save("forceUpdate", "new", below: "b")])
        for name in ["b", "secret"] {
            try await refuse([SharedTrees.save("create", "other", below: name)])
        }
        // A record created in the same batch is no better place than the one above it.
        try await refuse(
            [
                SharedTrees.save("create", "x", below: "secret"),
                SharedTrees.save("create", "y", below: "x"),
            ],
            ["ACCESS_DENIED", "ACCESS_DENIED"]
        )
    }

    @Test("A user who may delete a record may leave it to the owner, at the top of the zone")
    func detaching() async throws {
        let left = SharedTrees.save("forceUpdate", "a1", [:], ["removesParent": true])
        let saved = try await world.modify(as: world.bob, [left])
        #expect(saved[0].serverErrorCode == nil)
        #expect(try await world.seen(by: world.bob).isDisjoint(with: ["a1", "a2"]))
        try await refuse([SharedTrees.save("forceUpdate", "a1", below: "a")])
    }

    @Test("A record does not go below itself")
    func circles() async throws {
        try await refuse([SharedTrees.save("forceUpdate", "a1", below: "a2")])
        try await refuse([SharedTrees.save("forceUpdate", "a1", below: "a1")])
    }

    @Test("The top of a share stays where its owner put it, and goes with its owner only")
    func roots() async throws {
        for parent in ["a1", "b", "secret"] {
            try await refuse([SharedTrees.save("forceUpdate", "a", below: parent)])
        }
        let children = ["a2", "a1"].map { SharedTrees.save("forceDelete", $0) }
        let deleted = try await world.modify(as: world.bob, children)
        #expect(deleted.map(\.deleted) == [true, true])
        try await refuse([SharedTrees.save("forceDelete", "a")])
        try await refuse([SharedTrees.save("forceDelete", "share of b")])
        // Its fields may be changed in place.
        let text: JSON = ["body": ["value": "new"]]
        let changed = try await world.modify(
            as: world.bob,
            [SharedTrees.save("forceUpdate", "a", text)]
        )
        #expect(changed[0].fields.body.value == "new")
    }

    @Test("A participant moves what they may write to where they may write")
    func allowed() async throws {
        let operations = [
            SharedTrees.save("create", "new", below: "a"),
            SharedTrees.save("forceUpdate", "a2", below: "new"),
            SharedTrees.save("forceReplace", "a1", below: "a"),
        ]
        let moved = try await world.modify(as: world.bob, atomic: true, operations)
        #expect(moved.map(\.serverErrorCode) == [nil, nil, nil])
        let names: Set = ["a", "a1", "a2", "new", "share of a", "c", "share of c"]
        #expect(try await world.seen(by: world.bob) == names)
    }

    @Test(
        "A reference with an action ties nothing to a record that is out of reach",
        arguments: ["VALIDATE", "DELETE_SELF"]
    )
    func ties(action: String) async throws {
        func save(_ kind: String, _ name: String, to target: String) -> JSON {
            let fields = SharedTrees.reference(to: target, action)
            return SharedTrees.save(kind, name, below: "a", fields)
        }
        for name in ["secret", "b1", "nowhere"] {
            // The response for an invisible record is the same as for a nonexistent one.
            let missing: JSON = "VALIDATING_REFERENCE_ERROR"
            try await refuse([save("create", "x", to: name)], [missing])
            try await refuse([save("forceUpdate", "a1", to: name)], [missing])
            try await refuse([save("forceReplace", "a1", to: name)], [missing])
        }
        try await refuse([save("create", "x", to: "c")])
        let made = try await world.modify(as: world.bob, [save("create", "x", to: "a1")])
        #expect(made[0].serverErrorCode == nil)
        let deleted = try await world.cloud.modify(
            as: world.ada,
            [SharedTrees.save("forceDelete", "secret")]
        )
        #expect(deleted.records[0].deleted == true)
    }

    @Test("A participant's reference leads to the shared zone, or names a zone with its owner")
    func homes() async throws {
        func save(_ kind: String, _ zone: JSON, _ action: String = "NONE") -> JSON {
            let value: JSON = ["recordName": "b1", "action": .string(action), "zoneID": zone]
            return SharedTrees.save(kind, "x", below: "a", ["to": ["value": value]])
        }
        let bob: JSON = .string(world.bob.name)
        for zone: JSON in [
            ["zoneName": "_defaultZone"], ["zoneName": "_defaultZone", "ownerRecordName": bob],
            ["zoneName": "Other"], ["zoneName": "Other", "ownerRecordName": "_defaultOwner"],
        ] {
            try await refuse([save("create", zone)], ["BAD_REQUEST"])
        }
        // The zone has the shared one's name, but is a different zone.
        let own: JSON = ["zoneName": "Notes", "ownerRecordName": bob]
        try await refuse([save("create", own, "DELETE_SELF")], ["BAD_REQUEST"])
        let named: JSON = ["zoneName": "Other", "ownerRecordName": bob]
        for zone in [world.zoneID, ["zoneName": "Notes"], named] {
            let made = try await world.modify(as: world.bob, [save("forceReplace", zone)])
            #expect(made[0].serverErrorCode == nil, "\(made)")
        }
        // A reference that the owner saved there is returned unchanged.
        let hers: JSON = ["zoneName": "_defaultZone"]
        _ = try await world.cloud.modify(as: world.ada, [save("forceReplace", hers)])
        let kept = try await world.modify(as: world.bob, [save("forceReplace", hers)])
        #expect(kept[0].serverErrorCode == nil, "\(kept)")
    }

    @Test("A deletion takes nothing along that lies out of reach")
    func cascades() async throws {
        let fields = SharedTrees.reference(to: "a2", "DELETE_SELF")
        let made = try await world.cloud.modify(
            as: world.ada,
            [
                SharedTrees.save("forceUpdate", "secret", fields),
                SharedTrees.save("forceUpdate", "b1", below: "b", fields),
            ]
        )
        #expect(made.records.allSatisfy { $0.serverErrorCode == nil })
        try await refuse([SharedTrees.save("forceDelete", "a2")])
        let deleted = try await world.cloud.modify(
            as: world.ada,
            [SharedTrees.save("forceDelete", "a2")]
        )
        #expect(deleted.records[0].deleted == true)
        #expect(try await world.seen(by: world.eve) == ["b", "share of b"])
    }

    @Test("Records are copied only to where their copier may put them")
    func copies() async throws {
        try await world.cloud.addZone("Mine", as: world.bob)
        _ = try await world.cloud.modify(
            "Mine",
            as: world.bob,
            [FixtureCloud.note("create", "own")]
        )
        func copy(below root: JSON) async throws -> FixtureCloud.Response {
            let body: JSON = [
                "sourceZoneID": FixtureCloud.zone("Mine"), "targetZoneID": world.zoneID,
                "targetRootName": root, "includeRecords": ["own"],
            ]
            return try await world.cloud.call("records/copy/start", as: world.bob, body)
        }
        let before = try await world.everything()
        #expect(try await copy(below: "secret").code == "NOT_FOUND")
        #expect(try await copy(below: "b").code == "NOT_FOUND")
        #expect(try await copy(below: "c").code == "ACCESS_DENIED")
        #expect(try await copy(below: nil).code == "ACCESS_DENIED")
        #expect(try await world.everything() == before)
        #expect(try await copy(below: "a1").status == 200)
        #expect(try await world.seen(by: world.bob).contains("own"))
    }
}
