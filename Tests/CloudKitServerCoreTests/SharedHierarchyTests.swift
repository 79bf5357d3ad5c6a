import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

/// In the trees, `a` contains `a1`, which contains `a2`; `b` contains `b1`; `a`, `b` and `c` are shared.
@Suite("Shared hierarchies do not overlap")
struct SharedHierarchyTests {
    let trees: SharedTrees

    init() async throws {
        trees = try await SharedTrees()
    }

    private static func share(_ root: String, as name: String = "another") -> JSON {
        [
            "operationType": "create",
            "record": [
                "recordName": .string(name), "recordType": "cloudkit.share",
                "forRecord": ["recordName": .string(root)], "publicPermission": "NONE",
            ],
        ]
    }

    /// Runs operations of the owner's; returns their codes.
    private func codes(
        of operations: [JSON],
        atomic: Bool = false
    ) async throws -> [String?] {
        let body: JSON = [
            "zoneID": ["zoneName": "Notes"], "atomic": .bool(atomic),
            "operations": .array(operations),
        ]
        let response = try await trees.cloud.call("records/modify", as: trees.ada, body)
        for record in response.records where record.serverErrorCode == "BAD_REQUEST" {
            #expect(record.reason.text?.hasPrefix("Record is already shared") == true, "\(record)")
        }
        return response.records.map(\.serverErrorCode.text)
    }

    @Test("A record below a shared one is not shared again, at any depth", arguments: ["a1", "a2"])
    func below(root: String) async throws {
        let before = try await trees.everything()
        #expect(try await codes(of: [Self.share(root)]) == ["BAD_REQUEST"])
        #expect(try await trees.everything() == before)
    }

    @Test("A record above a shared one is not shared")
    func above() async throws {
        let moved = [
            SharedTrees.save("create", "top"), SharedTrees.save("create", "middle", below: "top"),
            SharedTrees.save("forceUpdate", "c", below: "middle"),
        ]
        #expect(try await codes(of: moved) == [nil, nil, nil])
        #expect(try await codes(of: [Self.share("top")]) == ["BAD_REQUEST"])
        #expect(try await codes(of: [Self.share("middle")]) == ["BAD_REQUEST"])
        // Once the other share is deleted, it is free.
        #expect(try await codes(of: [FixtureCloud.note("forceDelete", "share of c")]) == [nil])
        #expect(try await codes(of: [Self.share("top")]) == [nil])
    }

    @Test("Neither a shared record nor one that holds it goes below another shared one")
    func moves() async throws {
        let moved = [
            SharedTrees.save("create", "top"), SharedTrees.save("forceUpdate", "c", below: "top"),
        ]
        #expect(try await codes(of: moved) == [nil, nil])
        for (name, parent) in [("b", "a2"), ("top", "a"), ("top", "b1")] {
            let before = try await trees.everything()
            let move = SharedTrees.save("forceUpdate", name, below: parent)
            #expect(try await codes(of: [move]) == ["BAD_REQUEST"], "\(name) below \(parent)")
            #expect(try await trees.everything() == before)
        }
        // A record without shares can move anywhere, and a shared one to a place without shares.
        for (name, parent) in [("a1", "b"), ("a2", "c"), ("secret", "top"), ("c", "secret")] {
            let move = SharedTrees.save("forceUpdate", name, below: parent)
            #expect(try await codes(of: [move]) == [nil], "\(name) below \(parent)")
        }
    }

    @Test("One request makes no overlap either, and may end one share for another")
    func batches() async throws {
        let both = [Self.share("secret"), SharedTrees.save("forceUpdate", "secret", below: "a")]
        #expect(try await codes(of: both, atomic: true).contains("BAD_REQUEST"))
        let nested = [
            SharedTrees.save("create", "x"), SharedTrees.save("create", "y", below: "x"),
            Self.share("x", as: "share of x"), Self.share("y", as: "share of y"),
        ]
        #expect(try await codes(of: nested) == [nil, nil, nil, "BAD_REQUEST"])
        let instead = [FixtureCloud.note("forceDelete", "share of x"), Self.share("y")]
        #expect(try await codes(of: instead, atomic: true) == [nil, nil])
    }

    @Test("A user who left, or whose share or zone is gone, is no participant")
    func members() async throws {
        let storage = try SQLiteStorage(path: nil)
        let trees = try await SharedTrees(storage: storage)
        func members() async throws -> Int {
            try await storage.read { reader in
                var count = 0
                for environment in 1...4 {
                    for zone in 1...20 {
                        count += try reader.documents("shareMember/\(environment)/\(zone)").count
                    }
                }
                return count
            }
        }
        #expect(try await members() == 2)
        // Bob is still a participant of another share of the zone.
        _ = try await trees.modify(as: trees.bob, [FixtureCloud.note("forceDelete", "share of a")])
        #expect(try await members() == 2)
        _ = try await trees.modify(as: trees.bob, [FixtureCloud.note("forceDelete", "share of c")])
        #expect(try await members() == 1)
        let seen = try await trees.cloud.call("changes/database", .shared, as: trees.bob, [:])
        #expect(seen.body.zones.elements.isEmpty)
        try await trees.shareMore("a", with: trees.bob)
        #expect(try await members() == 2)
        #expect(try await trees.seen(by: trees.bob) == ["a", "a1", "a2", "share of a"])
        _ = try await trees.cloud.modify(
            as: trees.ada,
            [FixtureCloud.note("forceDelete", "share of a")]
        )
        #expect(try await members() == 1)
        let removal: JSON = [
            "operations": [["operationType": "delete", "zone": ["zoneID": ["zoneName": "Notes"]]]]
        ]
        _ = try await trees.cloud.call("zones/modify", as: trees.ada, removal)
        #expect(try await members() == 0)
    }

    @Test("A participant who had no permission for a while returns without an invitation")
    func paused() async throws {
        func permit(_ permission: String) async throws {
            let participant: JSON = [
                "type": "USER", "permission": .string(permission),
                "userIdentity": ["userRecordName": .string(trees.eve.name)],
            ]
            let record: JSON = [
                "recordName": "share of b", "recordType": "cloudkit.share",
                "participants": [participant],
            ]
            let saved = try await trees.cloud.modify(
                as: trees.ada,
                [["operationType": "forceUpdate", "record": record]]
            )
            try #require(saved.records[0].serverErrorCode == nil, "\(saved)")
        }
        var eve = FeedDevice(user: trees.eve)
        try await eve.sync(trees.cloud, trees.zoneID)
        #expect(eve.names == ["b", "b1", "share of b"])
        try await permit("NONE")
        try await eve.sync(trees.cloud, trees.zoneID)
        #expect(eve.names.isEmpty)
        try await permit("READ_ONLY")
        try await eve.sync(trees.cloud, trees.zoneID)
        #expect(eve.names == ["b", "b1", "share of b"])
    }
}
