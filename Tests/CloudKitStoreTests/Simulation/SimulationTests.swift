import CloudKitStore
import Foundation
import Testing

@Suite("Random schedules over the real store, engine and cloud")
struct SimulationTests {
    private static let variants = SimulationVariant.allCases.filter {
        RequestedSchedules.includes($0.rawValue)
    }

    @Test(
        "After every step and at rest all invariants hold",
        .timeLimit(.minutes(60)),
        arguments: variants
    )
    func schedules(_ variant: SimulationVariant) async throws {
        let began = ContinuousClock.now
        let outcomes = await Self.outcomes(
            of: RequestedSchedules.seeds(of: variant.rawValue, usual: variant.count),
            variant
        )
        let lines = outcomes.map(\.lines).reduce(0, +)
        let digest = outcomes.map(\.digest).reduce(0) { $0 &* 31 &+ $1 }
        print(
            "\(outcomes.count) \(variant) schedules in \(ContinuousClock.now - began), "
                + "\(lines) lines, digest \(String(digest, radix: 16))"
        )
        let failures = outcomes.filter { !$0.problems.isEmpty }
        for failure in failures {
            print("seed \(failure.seed): \(failure.problems.joined(separator: "; "))")
        }
        // The first failure of each kind is printed in full.
        var told: Set<Substring> = []
        for failure in failures where told.count < 4 {
            guard told.insert(failure.problems[0].prefix { $0 != ":" }).inserted else { continue }
            let plan = SimulationPlan(seed: failure.seed, variant: variant)
            var shrinker = SimulationShrinker()
            let (shortest, outcome) = await shrinker.shrink(
                plan,
                StoreSimulation.Outcome(problems: failure.problems, trace: failure.trace)
            )
            let story = SimulationShrinker.story(shortest, outcome, shrunkFrom: plan.steps.count)
            Issue.record("\(failures.count) schedules fail\n\(story)")
        }
    }

    private struct Summary: Sendable {
        var seed: UInt64
        var problems: [String]
        /// The steps of a failing schedule.
        var trace: [String]
        var lines: Int
        var digest: UInt64
    }

    private static func outcomes(
        of seeds: Range<UInt64>,
        _ variant: SimulationVariant
    ) async -> [Summary] {
        await withTaskGroup { group in
            // Schedules share nothing, so they run on all processors.
            let width = UInt64(max(2, ProcessInfo.processInfo.activeProcessorCount))
            for offset in 0..<width {
                group.addTask { @concurrent in
                    var summaries: [Summary] = []
                    for seed in seeds where seed % width == offset {
                        let plan = SimulationPlan(seed: seed, variant: variant)
                        let outcome = await StoreSimulation.run(plan)
                        summaries.append(
                            Summary(
                                seed: seed,
                                problems: outcome.problems,
                                trace: outcome.problems.isEmpty ? [] : outcome.trace,
                                lines: outcome.trace.count,
                                digest: digest(outcome.trace)
                            )
                        )
                    }
                    return summaries
                }
            }
            return await group.reduce(into: []) { $0 += $1 }.sorted { $0.seed < $1.seed }
        }
    }

    private static func digest(_ lines: [String]) -> UInt64 {
        SimulationTrace.digest(lines.joined(separator: "\n").utf8)
    }

    @Test(
        "The same seed gives the same run, request by request",
        arguments: [1, 2, 7, 42, 1_000] as [UInt64]
    )
    func determinism(_ seed: UInt64) async {
        let plan = SimulationPlan(seed: seed)
        let first = await StoreSimulation.run(plan)
        let second = await StoreSimulation.run(SimulationPlan(seed: seed))
        #expect(first.trace.count > 50)
        #expect(first.trace.count == second.trace.count)
        let difference = zip(first.trace, second.trace).first { $0 != $1 }
        #expect(difference == nil)
    }
}
