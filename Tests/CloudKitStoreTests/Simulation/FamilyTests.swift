import Foundation
import Support
import Testing

@Suite("Random families share trees of rows")
struct FamilyTests {
    /// The topics of the schedules of families.
    private enum Variant: String, Sendable, CaseIterable {
        /// All that families do.
        case families
        /// The same, where users give the same keys to their rows.
        case keys
        /// The same, where users replace rows.
        case replacements
        /// The same, where most shares are of whole zones.
        case wholeZone
        /// The same through a real server, with lost responses.
        case http

        /// The number of schedules that run with the other tests.
        var count: UInt64 {
            switch self {
            case .families, .keys, .replacements, .wholeZone: 3
            case .http: 1
            }
        }

        /// The schedules that once found a defect.
        var remembered: [UInt64] {
            switch self {
            case .families: [51, 57, 77, 88, 153, 156, 277, 287, 450, 514, 1021]
            case .wholeZone: [65]
            case .keys, .replacements, .http: []
            }
        }

        var seeds: [UInt64] {
            RequestedSchedules.seeds(of: rawValue, usual: count)
                + (RequestedSchedules.areChosen ? [] : remembered)
        }

        func run(_ seed: UInt64) async -> FamilySimulation.Outcome {
            await FamilySimulation.run(
                seed: seed,
                sharesKeys: self == .keys,
                replaces: self == .replacements,
                sharesZones: self == .wholeZone,
                over: self == .http ? .overHTTP : .inProcess
            )
        }
    }

    @Test(
        "Each user sees their own rows and what others share with them",
        .timeLimit(.minutes(60)),
        arguments: Variant.allCases.filter { RequestedSchedules.includes($0.rawValue) }
    )
    private func schedules(_ variant: Variant) async {
        let seeds = variant.seeds
        let began = ContinuousClock.now
        let failures = await Self.failures(of: seeds, variant)
        print("\(seeds.count) \(variant) in \(ContinuousClock.now - began), \(failures.count) fail")
        for (seed, outcome) in failures.prefix(3) {
            // Each request is printed only for a single schedule.
            let lines = outcome.trace.filter { seeds.count == 1 || !$0.hasPrefix("  ") }
            let story = lines.joined(separator: "\n")
            Issue.record(
                """
                \(failures.count) of \(variant) fail; seed \(seed):
                \(story)
                Scripts/simulate --variant \(variant) --seeds 1 --from \(seed)
                """
            )
        }
    }

    private static func failures(
        of seeds: [UInt64],
        _ variant: Variant
    ) async -> [(seed: UInt64, outcome: FamilySimulation.Outcome)] {
        await withTaskGroup { group in
            // Schedules share nothing, so they run on all processors.
            let width = max(2, ProcessInfo.processInfo.activeProcessorCount)
            for offset in 0..<width {
                group.addTask { @concurrent in
                    var found: [(seed: UInt64, outcome: FamilySimulation.Outcome)] = []
                    for place in stride(from: offset, to: seeds.count, by: width) {
                        let outcome = await variant.run(seeds[place])
                        guard !outcome.problems.isEmpty else { continue }
                        print(
                            "\(variant) \(seeds[place]): \(outcome.problems.joined(separator: "; "))"
                        )
                        found.append((seeds[place], outcome))
                    }
                    return found
                }
            }
            return await group.reduce(into: []) { $0 += $1 }.sorted { $0.seed < $1.seed }
        }
    }
}
