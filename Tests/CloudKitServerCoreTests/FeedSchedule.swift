import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

/// A zone of Ada's under random changes, with two guests of three devices each.
struct FeedSchedule {
    let seed: UInt64
    var random: SecrecyRandom
    let cloud: FixtureCloud
    let ada: FixtureCloud.User
    let guests: [FixtureCloud.User]
    var oracle = FeedOracle()
    var log: [String] = []
    /// The number of names that were used.
    var made = 0
    /// The names of deleted records.
    var deleted: [String] = []

    private var devices: [FeedDevice] = []
    private var owners: FeedDevice
    /// The records that were changed since the owner's device last fetched changes.
    var touched: Set<String> = []
    /// The records that each user has seen at any time.
    private var everSeen: [String: Set<String>] = [:]
    /// The devices whose users saw nothing of the zone since they last fetched changes.
    private var startsAnew: Set<Int> = []

    init(seed: UInt64) async throws {
        self.seed = seed
        random = SecrecyRandom(seed: seed)
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        guests = [try await cloud.addUser("Bob"), try await cloud.addUser("Eve")]
        devices = guests.flatMap { guest in (0..<3).map { _ in FeedDevice(user: guest) } }
        owners = FeedDevice(user: ada, database: .private)
        try await cloud.addZone("Notes", as: ada)
    }

    var zoneID: JSON { ["zoneName": "Notes", "ownerRecordName": .string(ada.name)] }

    mutating func run(steps: Int) async throws {
        for step in 0..<steps {
            try await change()
            note()
            let place = Int.random(in: devices.indices, using: &random)
            let limit = [1, 2, 5, 200].randomElement(using: &random) ?? 200
            try await sync(place, limit: limit, "step \(step)")
            if random.chance(20) { try await syncOwner("step \(step)") }
        }
        try await syncOwner("the end")
        for place in devices.indices {
            try await sync(place, limit: 200, "the end")
            var fresh = FeedDevice(user: devices[place].user)
            try await fresh.sync(cloud, zoneID)
            try check(fresh, "a new device")
        }
    }

    /// Records what users see now.
    private mutating func note() {
        for guest in guests {
            let visible = oracle.visible(to: guest.name)
            everSeen[guest.name, default: []].formUnion(visible)
            guard visible.isEmpty else { continue }
            for place in devices.indices where devices[place].user.name == guest.name {
                startsAnew.insert(place)
            }
        }
    }

    private mutating func sync(_ place: Int, limit: Int, _ moment: String) async throws {
        let endsZone = startsAnew.contains(place) && devices[place].knowsZone
        let isEnded = try await devices[place].followZones(cloud)
        try #require(isEnded == endsZone, "the zone's end, \(story(moment))")
        let expiries = devices[place].expiries
        try await devices[place].sync(cloud, zoneID, limit: limit)
        try check(devices[place], moment)
        if !startsAnew.contains(place) {
            try #require(devices[place].expiries == expiries, "a token expired, \(story(moment))")
        }
        if !devices[place].names.isEmpty { startsAnew.remove(place) }
    }

    /// The owner is notified of changes, but not of those that only affect what participants see.
    private mutating func syncOwner(_ moment: String) async throws {
        let news = try await owners.sync(cloud, zoneID)
        let needless = news.subtracting(touched)
        try #require(needless.isEmpty, "the owner is told of \(needless), \(story(moment))")
        let all = Set(oracle.parents.keys).union(oracle.shares.keys)
        try #require(owners.names == all, "\(story(moment))")
        touched = []
    }

    func story(_ moment: String) -> String {
        "seed \(seed), \(moment): \(log.suffix(12).joined(separator: "; "))"
    }

    private func check(_ device: FeedDevice, _ moment: String) throws {
        let expected = oracle.visible(to: device.user.name)
        let story = story(moment)
        try #require(device.names == expected, "\(device.user.name), \(story)")
        for name in expected where oracle.shares[name] == nil {
            try #require(device.parents[name] == oracle.parents[name] ?? nil, "\(name), \(story)")
        }
        let leaked = device.told.subtracting(everSeen[device.user.name] ?? [])
        try #require(leaked.isEmpty, "\(device.user.name) is told of \(leaked), \(story)")
    }
}
