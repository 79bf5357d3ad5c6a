import CloudKitStore
import Foundation
import Testing

@Suite("Defects that are put into the store on purpose")
struct DefectTests {
    /// Within how many schedules each defect has to be found.
    private static let limit: UInt64 = 60

    @Test("Random schedules find the defect", arguments: StoreDefect.allCases)
    func discovery(_ defect: StoreDefect) async throws {
        for seed in 1...Self.limit {
            let outcome = await StoreSimulation.run(SimulationPlan(seed: seed), defect: defect)
            guard outcome.problems.isEmpty else {
                print("\(defect) is found by seed \(seed): \(outcome.problems[0])")
                return
            }
        }
        Issue.record("\(Self.limit) schedules did not find \(defect)")
    }

    @Test("A failing schedule is told in a few steps, with the command that repeats it")
    func shrinking() async throws {
        let defect = StoreDefect.ignoresDeletions
        for seed in 1...Self.limit {
            let plan = SimulationPlan(seed: seed)
            let outcome = await StoreSimulation.run(plan, defect: defect)
            guard !outcome.problems.isEmpty else { continue }
            var shrinker = SimulationShrinker(defect: defect)
            let (shortest, last) = await shrinker.shrink(plan, outcome)
            // An insertion, its way to another device, the deletion, and its way.
            #expect(shortest.steps.count <= 6)
            #expect(!last.problems.isEmpty)
            // Every step matters: without any of them nothing is wrong.
            for place in shortest.steps.indices {
                var shorter = shortest
                shorter.steps.remove(at: place)
                let outcome = await StoreSimulation.run(shorter, defect: defect)
                #expect(outcome.problems.isEmpty)
            }
            let story = SimulationShrinker.story(shortest, last, shrunkFrom: plan.steps.count)
            #expect(story.contains("Scripts/simulate --seeds 1 --from \(seed)"))
            #expect(story.contains(last.problems[0]))
            return
        }
        Issue.record("\(Self.limit) schedules did not find \(defect)")
    }
}
