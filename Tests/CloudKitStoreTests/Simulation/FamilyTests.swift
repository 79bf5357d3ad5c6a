import Foundation
import Testing

@Suite("Random families share trees of rows")
struct FamilyTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    /// `true` when schedules are requested by `Scripts/simulate --variant families`.
    private static let isAsked =
        ProcessInfo.processInfo.environment["CLOUDKIT_STORE_VARIANT"] == "families"
    private static let first = isAsked ? number("CLOUDKIT_STORE_FIRST_SEED") ?? 1 : 1
    private static let count = isAsked ? number("CLOUDKIT_STORE_SEEDS") ?? 1_000 : 20

    /// The schedules that once found a defect.
    private static let remembered: [UInt64] = [51, 57, 77, 88, 153, 156, 277, 287, 450, 514, 1021]

    @Test("Each user sees their own rows and what others share with them", .timeLimit(.minutes(60)))
    func schedules() async {
        let range = Array(Self.first..<Self.first + Self.count)
        let seeds = range + (Self.isAsked ? [] : Self.remembered)
        let began = ContinuousClock.now
        let failures = await Self.failures(of: seeds)
        print("\(seeds.count) families in \(ContinuousClock.now - began), \(failures.count) fail")
        for (seed, outcome) in failures.prefix(3) {
            // Each request is printed only for a single schedule.
            let lines = outcome.trace.filter { seeds.count == 1 || !$0.hasPrefix("  ") }
            let story = lines.joined(separator: "\n")
            Issue.record(
                """
                \(failures.count) families fail; seed \(seed):
                \(story)
                Scripts/simulate --variant families --seeds 1 --from \(seed)
                """
            )
        }
    }

    private static func failures(
        of seeds: [UInt64]
    ) async -> [(seed: UInt64, outcome: FamilySimulation.Outcome)] {
        await withTaskGroup { group in
            // Schedules share nothing, so they run on all processors.
            let width = max(2, ProcessInfo.processInfo.activeProcessorCount)
            for offset in 0..<width {
                group.addTask { @concurrent in
                    var found: [(seed: UInt64, outcome: FamilySimulation.Outcome)] = []
                    for place in stride(from: offset, to: seeds.count, by: width) {
                        let outcome = await FamilySimulation.run(seed: seeds[place])
                        guard !outcome.problems.isEmpty else { continue }
                        print("family \(seeds[place]): \(outcome.problems.joined(separator: "; "))")
                        found.append((seeds[place], outcome))
                    }
                    return found
                }
            }
            return await group.reduce(into: []) { $0 += $1 }.sorted { $0.seed < $1.seed }
        }
    }
}
