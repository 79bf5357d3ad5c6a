import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

/// Random schedules over the feed of a zone with several shared trees.
///
/// Devices follow the feed by their tokens; the result on each of them is compared with the records
/// that its user may see according to a list of the records and shares alone.
@Suite("Feeds of shared trees")
struct SharedFeedTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init)
    }

    static var seeds: ClosedRange<UInt64> {
        let first = UInt64(number("CLOUDKIT_FEED_FIRST_SEED") ?? 1)
        return first...(first + UInt64(max(1, number("CLOUDKIT_FEED_SEEDS") ?? 8)) - 1)
    }

    @Test(
        "Every device has what its user may see, whatever is shared, moved and left",
        arguments: seeds
    )
    func schedules(seed: UInt64) async throws {
        var schedule = try await FeedSchedule(seed: seed)
        try await schedule.run(steps: Self.number("CLOUDKIT_FEED_STEPS") ?? 120)
    }

    @Test("Sharing a second tree of a zone brings all of it, and unsharing it takes all of it away")
    func secondTree() async throws {
        let trees = try await SharedTrees()
        var bob = FeedDevice(user: trees.bob)
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.names == ["a", "a1", "a2", "share of a", "c", "share of c"])
        try await trees.shareMore("b", with: trees.bob)
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.names.isSuperset(of: ["b", "b1", "share of b"]))
        _ = try await trees.cloud.modify(
            as: trees.ada,
            [FixtureCloud.note("forceDelete", "share of b")]
        )
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.names == ["a", "a1", "a2", "share of a", "c", "share of c"])
    }

    @Test("A tree that is moved comes and goes with all that is below it")
    func movedTree() async throws {
        let trees = try await SharedTrees()
        var (bob, eve) = (FeedDevice(user: trees.bob), FeedDevice(user: trees.eve))
        try await bob.sync(trees.cloud, trees.zoneID)
        try await eve.sync(trees.cloud, trees.zoneID)
        _ = try await trees.cloud.modify(
            as: trees.ada,
            [SharedTrees.save("forceUpdate", "a1", below: "b")]
        )
        try await bob.sync(trees.cloud, trees.zoneID)
        try await eve.sync(trees.cloud, trees.zoneID)
        #expect(bob.names == ["a", "share of a", "c", "share of c"])
        #expect(eve.names == ["b", "b1", "a1", "a2", "share of b"])
    }

    @Test("A record that was deleted before its tree was unshared is gone for who was away")
    func deletedAndUnshared() async throws {
        let trees = try await SharedTrees()
        var bob = FeedDevice(user: trees.bob)
        try await bob.sync(trees.cloud, trees.zoneID)
        for name in ["a2", "share of a"] {
            _ = try await trees.cloud.modify(
                as: trees.ada,
                [FixtureCloud.note("forceDelete", name)]
            )
        }
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.names == ["c", "share of c"])
    }

    @Test("An owner who opens the own link stays the owner: no zone of theirs is shared with them")
    func ownLink() async throws {
        let trees = try await SharedTrees()
        let share = try await trees.cloud.lookUp(["share of a"], as: trees.ada).records[0]
        let accepted = try await trees.cloud.call(
            "records/accept",
            .public,
            as: trees.ada,
            ["shortGUIDs": [["value": share.shortGUID]]]
        )
        #expect(accepted.body.results[0].serverErrorCode == nil)
        let zones = try await trees.cloud.call("changes/database", .shared, as: trees.ada, [:])
        #expect(zones.body.zones.elements.isEmpty)
    }

    @Test("A move and a deletion in one request are gone for who saw the record")
    func movedAndDeleted() async throws {
        let trees = try await SharedTrees()
        var bob = FeedDevice(user: trees.bob)
        try await bob.sync(trees.cloud, trees.zoneID)
        _ = try await trees.cloud.modify(
            as: trees.ada,
            [
                SharedTrees.save("forceUpdate", "a1", below: "b"),
                FixtureCloud.note("forceDelete", "a2"),
            ]
        )
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.names == ["a", "share of a", "c", "share of c"])
    }

    @Test("A name that is made again out of sight is gone for who saw the old record")
    func nameMadeAnew() async throws {
        let trees = try await SharedTrees()
        var bob = FeedDevice(user: trees.bob)
        try await bob.sync(trees.cloud, trees.zoneID)
        _ = try await trees.cloud.modify(as: trees.ada, [FixtureCloud.note("forceDelete", "a2")])
        let anew = SharedTrees.save("create", "a2", below: "b")
        _ = try await trees.cloud.modify(as: trees.ada, [anew])
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.names == ["a", "a1", "share of a", "c", "share of c"])
    }

    @Test("A change of too many records lets tokens expire, and ends the zone for nobody who stays")
    func largeTree() async throws {
        var configuration = ServiceConfiguration()
        configuration.listedRecords = 2
        let trees = try await SharedTrees(configuration: configuration)
        var bob = FeedDevice(user: trees.bob)
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(try await !bob.followZones(trees.cloud))
        var eve = FeedDevice(user: trees.eve)
        var ada = FeedDevice(user: trees.ada, database: .private)
        try await eve.sync(trees.cloud, trees.zoneID)
        try await ada.sync(trees.cloud, trees.zoneID)
        try await trees.shareMore("b", with: trees.bob)
        #expect(try await !bob.followZones(trees.cloud))
        #expect(bob.knowsZone)
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.expiries == 1)
        #expect(bob.names.isSuperset(of: ["a", "a1", "a2", "b", "b1", "c"]))
        // Neither the owner nor a user who still sees the same records starts over.
        let toldEve = try await eve.sync(trees.cloud, trees.zoneID)
        let toldAda = try await ada.sync(trees.cloud, trees.zoneID)
        #expect(toldEve == ["share of b"] && eve.expiries == 0)
        #expect(toldAda == ["share of b"] && ada.expiries == 0)
    }

    @Test("Nested records that leave in one request count once each, and no token expires")
    func nestedMoves() async throws {
        var configuration = ServiceConfiguration()
        configuration.listedRecords = 100
        let trees = try await SharedTrees(configuration: configuration)
        let names = (0..<60).map { "n\($0)" }
        _ = try await trees.cloud.modify(
            as: trees.ada,
            names.map { SharedTrees.save("create", $0, below: "a") }
        )
        var bob = FeedDevice(user: trees.bob)
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.names.isSuperset(of: names))
        // Each moves below the one before it, the first out of sight.
        let moves = zip(names, ["secret"] + names).map { name, parent in
            SharedTrees.save("forceUpdate", name, below: parent)
        }
        _ = try await trees.cloud.modify(as: trees.ada, moves)
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.expiries == 0)
        #expect(bob.names == ["a", "a1", "a2", "share of a", "c", "share of c"])
    }

    @Test("A user who leaves all shares of a zone and joins one again receives its end once")
    func joinedAgain() async throws {
        let trees = try await SharedTrees()
        var bob = FeedDevice(user: trees.bob)
        #expect(try await !bob.followZones(trees.cloud))
        for root in ["a", "c"] {
            _ = try await trees.modify(
                as: trees.bob,
                [FixtureCloud.note("forceDelete", "share of \(root)")]
            )
        }
        try await trees.shareMore("c", with: trees.bob)
        #expect(try await bob.followZones(trees.cloud))
        #expect(bob.knowsZone)
        try await trees.shareMore("a", with: trees.bob)
        #expect(try await !bob.followZones(trees.cloud))
    }

    @Test("The tokens and participants of an earlier version stay: their zones do not end")
    func earlierVersion() async throws {
        let storage = try SQLiteStorage(path: nil)
        let trees = try await SharedTrees(storage: storage)
        let zones = try await trees.cloud.call("changes/database", .shared, as: trees.bob, [:])
        let token = try #require(zones.body.syncToken.text)
        // The user, the generation of the databases, a count, and two numbers for each zone; a signature.
        let contents = try #require(Data(base64Encoded: token)).dropLast(16)
        #expect(contents.count { $0 < 0x80 } == 5)
        // An earlier version did not record when users joined.
        let removed = try await storage.write { writer in
            var removed = 0
            for (environment, zone) in (1...4).flatMap({ one in (1...20).map { (one, $0) } }) {
                let collection = "shareJoining/\(environment)/\(zone)"
                for document in try writer.documents(collection) {
                    try writer.removeDocument(collection, document.name)
                    removed += 1
                }
            }
            return removed
        }
        #expect(removed == 2)
        _ = try await trees.cloud.modify(as: trees.ada, [SharedTrees.save("forceUpdate", "a")])
        let news = try await trees.cloud.call(
            "changes/database",
            .shared,
            as: trees.bob,
            ["syncToken": .string(token)]
        )
        #expect(news.body.zones.elements.map { $0.deleted == true } == [false])
    }

    @Test("The owner's feed says nothing of what participants see")
    func ownersFeed() async throws {
        let trees = try await SharedTrees()
        let before = try await trees.cloud.changes(as: trees.ada).syncToken.text ?? ""
        try await trees.shareMore("b", with: trees.bob)
        let news = try await trees.cloud.changes(as: trees.ada, after: .string(before))
            .records.elements
        #expect(Set(news.compactMap(\.recordName.text)) == ["share of b"])
    }
}

extension SharedTrees {
    /// Invites another user to an existing share, and accepts it as that user.
    func shareMore(_ root: String, with user: FixtureCloud.User) async throws {
        let share = try await cloud.lookUp(["share of \(root)"], as: ada).records[0]
        let participant: JSON = [
            "type": "USER", "permission": "READ_ONLY",
            "userIdentity": ["userRecordName": .string(user.name)],
        ]
        let record: JSON = [
            "recordName": .string("share of \(root)"), "recordType": "cloudkit.share",
            "recordChangeTag": share.recordChangeTag,
            "participants": .array(share.participants.elements + [participant]),
        ]
        let saved = try await cloud.modify(
            as: ada,
            [["operationType": "update", "record": record]]
        ).records[0]
        try #require(saved.serverErrorCode == nil, "\(saved)")
        let response = try await cloud.call(
            "records/accept",
            .public,
            as: user,
            ["shortGUIDs": [["value": saved.shortGUID]]]
        )
        try #require(response.body.results[0].participantStatus == "ACCEPTED", "\(response)")
    }
}
