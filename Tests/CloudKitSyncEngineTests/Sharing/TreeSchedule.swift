import CloudKit
import CloudKitTesting
import Support
import Testing

/// A zone of Ada's that she, and two guests with two devices each, change at random.
struct TreeSchedule {
    let seed: UInt64
    var random: SeededRandom
    let owner: CKContainer
    let guests: [CKContainer]
    let ownZone = CKRecordZone.ID(zoneName: "Lists")
    let sharedZone: CKRecordZone.ID
    var oracle = TreeOracle()
    var log: [String] = []
    var made = 0
    /// The owner's device first, then those of the guests.
    private(set) var devices: [(guest: Int?, app: TreeFollower)] = []
    private let cloud: Cloud
    private let users: [TestCloud.User]

    init(seed: UInt64, in cloud: Cloud) async throws {
        self.seed = seed
        self.cloud = cloud
        random = SeededRandom(seed: seed)
        owner = try await cloud.device(of: try await cloud.addUser("Ada"))
        users = [try await cloud.addUser("Bob"), try await cloud.addUser("Cleo")]
        var guests: [CKContainer] = []
        for user in users { guests.append(try await cloud.device(of: user)) }
        self.guests = guests
        let ownerName = try await owner.userRecordID().recordName
        sharedZone = CKRecordZone.ID(zoneName: "Lists", ownerName: ownerName)
        try await owner.privateCloudDatabase.save(CKRecordZone(zoneID: ownZone))
        devices = [(nil, TreeFollower(owner.privateCloudDatabase, zoneName: "Lists"))]
        for guest in users.indices {
            for _ in 0..<2 { devices.append((guest, try await newApp(of: guest))) }
        }
    }

    private func newApp(of guest: Int) async throws -> TreeFollower {
        let device = try await cloud.device(of: users[guest])
        return TreeFollower(device.sharedCloudDatabase, zoneName: "Lists")
    }

    mutating func run(steps: Int) async throws {
        for step in 0..<steps {
            try await change()
            let (guest, app) = devices[Int.random(in: devices.indices, using: &random)]
            try await check(app, guest, "step \(step)")
        }
        for (guest, app) in devices { try await check(app, guest, "the end") }
        for guest in guests.indices {
            try await check(try await newApp(of: guest), guest, "a new device")
        }
    }

    /// Fetches, and compares the app's records with those that its user may see.
    private func check(_ app: TreeFollower, _ guest: Int?, _ moment: String) async throws {
        try await app.engine.fetchChanges()
        let story = story("\(guest.map { "guest \($0)" } ?? "the owner") at \(moment)")
        try #require(app.items == oracle.visible(to: guest), "\(story)")
        try #require(app.problems.isEmpty, "\(app.problems), \(story)")
    }

    func story(_ moment: String) -> String {
        "seed \(seed), \(moment): \(log.suffix(14).joined(separator: "; "))"
    }

    /// Returns a guest's app after a fetch, for a change.
    func app(of guest: Int) async throws -> TreeFollower {
        let app = devices[1 + 2 * guest].app
        try await check(app, guest, "before a change")
        return app
    }
}
