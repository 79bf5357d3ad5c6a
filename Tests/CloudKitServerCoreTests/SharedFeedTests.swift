import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

/// Random schedules over the feed of a zone that several trees are shared of.
///
/// Devices follow the feed by their tokens; what each of them then has is compared with what its user
/// may see by a list of the records and shares alone.
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
            [TestCloud.note("forceDelete", "share of b")]
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
            _ = try await trees.cloud.modify(as: trees.ada, [TestCloud.note("forceDelete", name)])
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
                TestCloud.note("forceDelete", "a2"),
            ]
        )
        try await bob.sync(trees.cloud, trees.zoneID)
        #expect(bob.names == ["a", "share of a", "c", "share of c"])
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

/// What one device knows of the zone.
struct FeedDevice {
    let user: TestCloud.User
    private(set) var names: Set<String> = []
    private(set) var parents: [String: String] = [:]
    /// All names that the service ever gave the device, deleted or not.
    private(set) var told: Set<String> = []
    private var token: String?

    init(user: TestCloud.User) { self.user = user }

    /// Follows the feed to its end; a zone that is not shared any more is forgotten.
    mutating func sync(_ cloud: TestCloud, _ zoneID: JSON, limit: Int = 200) async throws {
        var hasMore = true
        while hasMore {
            var zone: [String: JSON] = [
                "zoneID": zoneID, "resultsLimit": .int(Int64(limit)),
            ]
            if let token { zone["syncToken"] = .string(token) }
            let body: JSON = ["zones": [.object(zone)]]
            let answer = try await cloud.call("changes/zone", .shared, as: user, body)
            let page = answer.body.zones[0]
            if page.serverErrorCode == "ZONE_NOT_FOUND" {
                (names, parents, token) = ([], [:], nil)
                return
            }
            if page.serverErrorCode == "CHANGE_TOKEN_EXPIRED", token != nil {
                (names, parents, token) = ([], [:], nil)
                continue
            }
            try #require(page.serverErrorCode == nil, "\(page)")
            for record in page.records.elements {
                guard let name = record.recordName.text else { continue }
                told.insert(name)
                if record.deleted == true {
                    names.remove(name)
                    parents[name] = nil
                } else {
                    names.insert(name)
                    parents[name] = record.parent.recordName.text
                }
            }
            token = page.syncToken.text
            hasMore = page.moreComing == true
        }
    }
}

/// A zone of Ada's under random changes, with two guests of three devices each.
struct FeedSchedule {
    private let seed: UInt64
    private var random: SecrecyRandom
    private let cloud: TestCloud
    private let ada: TestCloud.User
    private var devices: [FeedDevice] = []
    private var guests: [TestCloud.User]
    private var log: [String] = []

    /// The oracle's list: each record's parent.
    private var parents: [String: String?] = [:]
    /// Each share's root and who accepted it.
    private var shares: [String: (root: String, guests: Set<String>)] = [:]
    /// What a user saw at any time.
    private var everSeen: [String: Set<String>] = [:]
    private var made = 0

    init(seed: UInt64) async throws {
        self.seed = seed
        random = SecrecyRandom(seed: seed)
        cloud = try await TestCloud()
        ada = try await cloud.addUser()
        guests = [try await cloud.addUser("Bob"), try await cloud.addUser("Eve")]
        devices = guests.flatMap { guest in (0..<3).map { _ in FeedDevice(user: guest) } }
        try await cloud.addZone("Notes", as: ada)
    }

    private var zoneID: JSON { ["zoneName": "Notes", "ownerRecordName": .string(ada.name)] }

    mutating func run(steps: Int) async throws {
        for step in 0..<steps {
            try await change()
            for guest in guests { everSeen[guest.name, default: []].formUnion(visible(to: guest)) }
            let place = Int.random(in: devices.indices, using: &random)
            let limit = [1, 2, 5, 200].randomElement(using: &random) ?? 200
            try await devices[place].sync(cloud, zoneID, limit: limit)
            try check(devices[place], "step \(step)")
        }
        for place in devices.indices {
            try await devices[place].sync(cloud, zoneID)
            try check(devices[place], "the end")
            var fresh = FeedDevice(user: devices[place].user)
            try await fresh.sync(cloud, zoneID)
            try check(fresh, "a new device")
        }
    }

    private func check(_ device: FeedDevice, _ place: String) throws {
        let expected = visible(to: device.user)
        let story = "seed \(seed), \(place): \(log.suffix(12).joined(separator: "; "))"
        try #require(device.names == expected, "\(story)")
        for name in expected where !name.hasPrefix("share") {
            try #require(device.parents[name] == parents[name] ?? nil, "\(name), \(story)")
        }
        let leaked = device.told.subtracting(everSeen[device.user.name] ?? [])
        try #require(leaked.isEmpty, "told of \(leaked), \(story)")
    }

    // MARK: The oracle

    private func lineage(_ name: String) -> [String] {
        var names = [name]
        while let parent = parents[names[names.count - 1]] ?? nil { names.append(parent) }
        return names
    }

    private func visible(to guest: TestCloud.User) -> Set<String> {
        var names: Set<String> = []
        for (share, entry) in shares where entry.guests.contains(guest.name) {
            names.insert(share)
            for name in parents.keys where lineage(name).contains(entry.root) { names.insert(name) }
        }
        return names
    }

    // MARK: Changes

    private mutating func change() async throws {
        let names = parents.keys.sorted()
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2:
            try await create(below: random.chance(75) ? names.randomElement(using: &random) : nil)
        case 3, 4: try await move(names)
        case 5: try await delete(names)
        case 6: try await share(names)
        case 7: try await unshare()
        case 8, 9: try await accept()
        case 10: try await leave()
        default:
            guard let name = names.randomElement(using: &random) else { return }
            try await modify(
                SharedTrees.save("forceUpdate", name, below: parents[name] ?? nil),
                name
            )
        }
    }

    /// Runs an operation of Ada's; answers whether it was done.
    @discardableResult
    private mutating func modify(_ operation: JSON, _ story: String) async throws -> Bool {
        let answer = try await cloud.modify(as: ada, [operation])
        let isDone = answer.records.first?.serverErrorCode == JSON.null
        log.append((isDone ? "" : "refused: ") + story)
        return isDone
    }

    private mutating func create(below parent: String?) async throws {
        made += 1
        // Names come back now and then, in other places.
        let name = "r\(random.chance(20) ? Int.random(in: 1...made, using: &random) : made)"
        guard parents[name] == nil else { return }
        let isDone = try await modify(
            SharedTrees.save("create", name, below: parent),
            "create \(name) below \(parent ?? "nothing")"
        )
        if isDone { parents[name] = .some(parent) }
    }

    private mutating func move(_ names: [String]) async throws {
        guard let name = names.randomElement(using: &random) else { return }
        let parent = random.chance(80) ? names.randomElement(using: &random) : nil
        if let parent, lineage(parent).contains(name) { return }
        let operation = SharedTrees.save("forceReplace", name, below: parent)
        if try await modify(operation, "move \(name) below \(parent ?? "nothing")") {
            parents[name] = .some(parent)
        }
    }

    private mutating func delete(_ names: [String]) async throws {
        guard let name = names.randomElement(using: &random) else { return }
        guard try await modify(TestCloud.note("forceDelete", name), "delete \(name)") else {
            return
        }
        parents[name] = nil
        for (share, entry) in shares where entry.root == name { shares[share] = nil }
    }

    private mutating func share(_ names: [String]) async throws {
        guard shares.count < 5, let root = names.randomElement(using: &random) else { return }
        made += 1
        let name = "share\(made)"
        let participants: [JSON] = guests.map {
            [
                "type": "USER", "permission": "READ_ONLY",
                "userIdentity": ["userRecordName": .string($0.name)],
            ]
        }
        let operation: JSON = [
            "operationType": "create",
            "record": [
                "recordName": .string(name), "recordType": "cloudkit.share",
                "forRecord": ["recordName": .string(root)], "publicPermission": "NONE",
                "participants": .array(participants),
            ],
        ]
        if try await modify(operation, "share \(root)") { shares[name] = (root, []) }
    }

    private mutating func unshare() async throws {
        guard let name = shares.keys.sorted().randomElement(using: &random) else { return }
        if try await modify(TestCloud.note("forceDelete", name), "unshare \(name)") {
            shares[name] = nil
        }
    }

    private mutating func accept() async throws {
        guard let name = shares.keys.sorted().randomElement(using: &random),
            let guest = guests.randomElement(using: &random)
        else { return }
        let share = try await cloud.lookUp([name], as: ada).records[0]
        let answer = try await cloud.call(
            "records/accept",
            .public,
            as: guest,
            ["shortGUIDs": [["value": share.shortGUID]]]
        )
        guard answer.body.results[0].serverErrorCode == nil else { return }
        shares[name]?.guests.insert(guest.name)
        log.append("\(guest.name.prefix(4)) accepts \(name)")
    }

    private mutating func leave() async throws {
        guard let guest = guests.randomElement(using: &random) else { return }
        let own = shares.filter { $0.value.guests.contains(guest.name) }.keys.sorted()
        guard let name = own.randomElement(using: &random) else { return }
        let body: JSON = ["zoneID": zoneID, "operations": [TestCloud.note("forceDelete", name)]]
        let answer = try await cloud.call("records/modify", .shared, as: guest, body)
        guard answer.records.first?.serverErrorCode == JSON.null else { return }
        // The invitation went with it; the owner would have to invite again.
        shares[name]?.guests.remove(guest.name)
        log.append("\(guest.name.prefix(4)) leaves \(name)")
    }
}

extension SharedTrees {
    /// Invites one more user to a share that there is, and lets the user accept.
    func shareMore(_ root: String, with user: TestCloud.User) async throws {
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
        let answer = try await cloud.call(
            "records/accept",
            .public,
            as: user,
            ["shortGUIDs": [["value": saved.shortGUID]]]
        )
        try #require(answer.body.results[0].participantStatus == "ACCEPTED", "\(answer)")
    }
}
