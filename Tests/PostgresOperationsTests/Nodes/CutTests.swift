#if PostgreSQL
import Foundation
import PostgresFixtures
import ServerFixtures
import Testing

@Suite(
    "A network between a node and its database that fails",
    .enabled(if: Rounds.ofCut != nil, "Scripts/postgres cut runs them")
)
struct CutTests {
    /// A failure.
    enum Fault: CaseIterable {
        /// All connections end, and no other one is possible.
        case down
        /// Nothing passes, and no connection ends.
        case stalled
        /// The database's machine stands still.
        case frozen
    }

    private struct Attempt: Sendable {
        var names: [String]
        var reply: Door.Reply
        var time: Duration
    }

    @Test(
        "Requests end in bounded time with clear errors, and leave nothing half done",
        arguments: Fault.allCases
    )
    func faults(fault: Fault) async throws {
        let server = try PostgresServer()
        let nodes = try await FailingNodes(count: 1, server)
        let door = try await nodes.doors(users: 1)[0]
        let history = ZoneHistory(zone: "Notes")
        try await history.prepare(door)
        // Also after a failure: what stands still could not be ended. It is over then whatever this says.
        defer { try? end(fault, nodes) }
        for round in 1...(Rounds.ofCut ?? 1) {
            let attempts = try await withThrowingTaskGroup(of: Attempt.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        // The fault comes in the midst of them.
                        if number == 20 { try begin(fault, nodes) }
                        return await attempt("\(round)-\(number)", door, history)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try end(fault, nodes)
            let times = attempts.map(\.time)
            #expect(times.allSatisfy { $0 < .seconds(90) }, "\(times.max() ?? .zero)")
            var reader = FeedReader(door)
            try await reader.read()
            var counts = (done: 0, refused: 0, unknown: 0)
            for attempt in attempts {
                let found = attempt.names.filter { reader.records[$0] != nil }.count
                switch attempt.reply {
                case .done:
                    counts.done += 1
                    #expect(found == 2, "\(attempt)")
                case .refused:
                    counts.refused += 1
                    #expect(found == 0, "\(attempt)")
                case .unknown:
                    counts.unknown += 1
                    #expect(found != 1, "\(attempt)")
                }
            }
            #expect(counts.done < 40)
            print("\(fault), round \(round): \(counts); longest request: \(times.max() ?? .zero)")
        }
        for problem in door.problems.all { Issue.record("\(problem)") }
    }

    private func begin(_ fault: Fault, _ nodes: FailingNodes) throws {
        switch fault {
        case .down: nodes.networks[0].takeDown()
        case .stalled: nodes.networks[0].stall()
        case .frozen: try nodes.server.freeze()
        }
    }

    private func end(_ fault: Fault, _ nodes: FailingNodes) throws {
        switch fault {
        case .down, .stalled: nodes.networks[0].resume()
        case .frozen: try nodes.server.resume()
        }
    }

    /// Creates two records in one batch.
    private func attempt(
        _ name: String,
        _ door: Door,
        _ history: ZoneHistory
    ) async -> Attempt {
        let names = ["\(name)-a", "\(name)-b"]
        let start = ContinuousClock.now
        let reply = await door.call(
            "records/modify",
            [
                "zoneID": history.zoneID, "atomic": true,
                "operations": .array(
                    names.map { FixtureCloud.note("create", $0, type: "Element") }
                ),
            ],
            node: 0
        )
        return Attempt(names: names, reply: reply, time: ContinuousClock.now - start)
    }
}
#endif
