import CloudKit
import Testing

@Suite("Many devices under any schedule")
struct SimulationTests {
    /// The seeds of an ordinary run.
    static let seeds: Range<UInt64> = 0..<2_000

    @Test("All devices and the server agree, and no edit is lost")
    func agreement() async {
        let outcomes = await withTaskGroup { group in
            // Simulations share nothing, so they run on all processors.
            let width: UInt64 = 4
            for offset in 0..<width {
                group.addTask { @concurrent in
                    var outcomes: [Outcome] = []
                    for seed in Self.seeds where seed % width == offset {
                        outcomes.append(Self.outcome(of: seed))
                        // One is enough to look at; a machine that never rests takes long.
                        if outcomes.last?.problems.isEmpty == false { break }
                    }
                    return outcomes
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let failures = outcomes.filter { !$0.problems.isEmpty }.sorted { $0.seed < $1.seed }
        for failure in failures.prefix(3) {
            Issue.record("seed \(failure.seed): \(failure.problems.joined(separator: "\n"))")
        }
        if let failure = failures.first {
            print(Self.trace(of: failure.seed).joined(separator: "\n"))
        }
        let steps = outcomes.map(\.steps).reduce(0, +)
        let requests = outcomes.map(\.requests).reduce(0, +)
        print("\(outcomes.count) schedules, \(steps) steps, \(requests) requests")
        #expect(!failures.isEmpty || outcomes.count == Self.seeds.count)
        // A schedule without events would show nothing.
        #expect(requests > 50 * outcomes.count)
    }

    private struct Outcome: Sendable {
        var seed: UInt64
        var problems: [String]
        var steps: Int
        var requests: Int
    }

    private static func outcome(of seed: UInt64) -> Outcome {
        var simulation = Simulation(seed: seed)
        simulation.run()
        return Outcome(
            seed: seed,
            problems: simulation.problems,
            steps: simulation.steps,
            requests: simulation.requests
        )
    }

    /// Returns the whole run of a seed, line by line.
    private static func trace(of seed: UInt64) -> [String] {
        var simulation = Simulation(seed: seed, keepsTrace: true)
        simulation.run()
        return simulation.trace
    }

    @Test("A device that differs from the others, or an edit that is nowhere, is found")
    func checks() {
        var differing = Simulation(seed: 1)
        differing.run()
        #expect(differing.problems == [])
        differing.doing(0) { app, _ in
            let recordID = CKRecord.ID(
                recordName: ModelApp.commonNames[0],
                zoneID: .init(zoneName: Simulation.lastingZone)
            )
            app.edit(recordID, field: 0, number: -1) { _ in }
        }
        differing.checkPeace()
        #expect(differing.problems.contains { $0.contains("differs from the server") })

        var losing = Simulation(seed: 1)
        losing.run()
        losing.edits["ada", default: [:]][
            CKRecord.ID(recordName: "lost", zoneID: .init(zoneName: Simulation.lastingZone))
        ] = [1, 1]
        losing.checkPeace()
        #expect(losing.problems == ["an edit of lost was lost: [1, 1], []"])
    }

    @Test("The same seed gives the same run", arguments: [1, 7, 42, 1_000, 123_456] as [UInt64])
    func determinism(_ seed: UInt64) {
        var first = Simulation(seed: seed, keepsTrace: true)
        first.run()
        var second = Simulation(seed: seed, keepsTrace: true)
        second.run()
        #expect(first.trace == second.trace)
        #expect(first.trace.count > 100)
    }
}
