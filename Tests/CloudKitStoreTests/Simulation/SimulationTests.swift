import CloudKitStore
import Foundation
import Testing

@Suite("Random schedules over the real store, engine and cloud")
struct SimulationTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    /// The first seed; `Scripts/simulate` requests others.
    private static let first = number("CLOUDKIT_STORE_FIRST_SEED") ?? 1
    private static let variants =
        ProcessInfo.processInfo.environment["CLOUDKIT_STORE_VARIANT"]
        .map { SimulationVariant(rawValue: $0).map { [$0] } ?? [] } ?? SimulationVariant.allCases

    /// Returns the number of schedules of a variant: the requested number, or the variant's own if
    /// none is requested.
    private static func count(_ variant: SimulationVariant) -> UInt64 {
        guard let asked = number("CLOUDKIT_STORE_SEEDS") else { return variant.count }
        guard variants.count > 1 else { return asked }
        let all = SimulationVariant.plain.count
        return min(asked, (asked * variant.count + all - 1) / all)
    }

    @Test(
        "After every step and at rest all invariants hold",
        .timeLimit(.minutes(60)),
        arguments: variants
    )
    func schedules(_ variant: SimulationVariant) async throws {
        let began = ContinuousClock.now
        let outcomes = await Self.outcomes(
            of: Self.first..<Self.first + Self.count(variant),
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
