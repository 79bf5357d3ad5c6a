import CloudKit
import Testing

@Suite("Many devices under any schedule")
struct SimulationTests {
    /// The seeds of an ordinary run.
    static let seeds: Range<UInt64> = 0..<2_000

    @Test("All devices and the server agree, and no edit is lost")
    func agreement() {
        var steps = 0
        var requests = 0
        for seed in Self.seeds {
            var simulation = Simulation(seed: seed)
            simulation.run()
            steps += simulation.steps
            requests += simulation.requests
            if !simulation.problems.isEmpty {
                Issue.record("seed \(seed): \(simulation.problems.joined(separator: "\n"))")
                print(Self.trace(of: seed).joined(separator: "\n"))
                return
            }
        }
        print("\(Self.seeds.count) schedules, \(steps) steps, \(requests) requests")
        // A schedule in which nothing happens would show nothing.
        #expect(requests > 50 * Self.seeds.count)
    }

    /// The whole run of a seed, line by line.
    private static func trace(of seed: UInt64) -> [String] {
        var simulation = Simulation(seed: seed, keepsTrace: true)
        simulation.run()
        return simulation.trace
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
