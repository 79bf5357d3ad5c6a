import ServerFixtures
import Synchronization
import Testing

/// Clients that work on the zones of several users through several nodes while things fail, and the
/// question whether every zone behaved as if there were one copy of it.
final class HistoryRun: Sendable {
    /// A user's way in, and the histories of their zones.
    private let users: [(door: Door, zones: [ZoneHistory])]
    private let seed: UInt64
    private let count = Mutex(0)

    /// The number of calls with an outcome, and of those without.
    struct Figures: Equatable {
        var known = 0
        var unknown = 0
    }

    /// Creates new zones.
    init(_ doors: [Door], name: String, seed: UInt64) async throws {
        self.seed = seed
        users = doors.map { door in
            (door, (0..<2).map { ZoneHistory(zone: "\(name)-\($0)") })
        }
        for user in users {
            for zone in user.zones { try await zone.prepare(user.door) }
        }
    }

    /// Runs the clients, and returns the problems.
    ///
    /// - Parameters:
    ///   - calls: The number of calls of each client; each zone has four of these.
    ///   - fault: Lets something fail before a call; it gets the call's number.
    ///   - heal: Ends what fails, before the zones are read for the last time.
    func run(
        calls: Int,
        fault: @escaping @Sendable (Int) async throws -> Void,
        heal: () async throws -> Void
    ) async throws -> (figures: Figures, problems: [String]) {
        var clients = try await withThrowingTaskGroup { group in
            for user in users {
                for zone in user.zones {
                    for number in 0..<4 {
                        let seed = seed &* 1_000 &+ UInt64(number)
                        group.addTask { [self] in
                            var client = ZoneClient(user.door, zone, seed: seed)
                            for _ in 0..<calls {
                                try await fault(
                                    count.withLock {
                                        $0 += 1; return $0
                                    }
                                )
                                await client.step()
                            }
                            return (zone.zone, user.door.webToken, client)
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await heal()
        var problems: [String] = []
        for place in clients.indices {
            try await clients[place].2.readAll()
            let (zone, token, _) = clients[place]
            let known = try await clients[place].2.catchUp()
            let all = try await Self.catchUp(zone, users.first { $0.door.webToken == token }?.door)
            if known != all { problems.append("\(zone): a client knows \(known), there is \(all)") }
        }
        var figures = Figures()
        for user in users {
            problems += user.door.problems.all
            for zone in user.zones {
                let calls = zone.calls
                figures.known += calls.count { $0.end != nil }
                figures.unknown += calls.count { $0.end == nil }
                let verdict = Linearizability.check(calls, from: ZoneObject(register: 0))
                if verdict != .isLinearizable { problems.append("\(zone.zone): \(verdict)") }
            }
        }
        return (figures, problems)
    }

    /// Returns the tags of all live records, as a new client sees them.
    private static func catchUp(_ zone: String, _ door: Door?) async throws -> [String: JSON] {
        let door = try #require(door)
        let zone: JSON = ["zoneID": ["zoneName": .string(zone)]]
        let body = try await door.callUntilDone("changes/zone", ["zones": [zone]], node: 0)
        var follower = Follower()
        _ = follower.take(body.zones[0])
        return follower.tags
    }
}
