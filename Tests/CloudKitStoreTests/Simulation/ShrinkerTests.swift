import GRDB
import Testing

@Suite("Schedules that fail are reported as short stories")
struct ShrinkerTests {
    /// Has a device lose the body of its notes, of which no trigger hears.
    private static let losesBodies: StoreSimulation.Fault = { database in
        try database.execute(
            sql: """
                UPDATE grdb_cloudkit_control SET applying = 1;
                UPDATE note SET body = NULL;
                UPDATE grdb_cloudkit_control SET applying = 0;
                """
        )
    }

    @Test("A failing schedule is reported in a few steps, with the command that repeats it")
    func shrinking() async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let plan = SimulationPlan(seed: seed, stepCount: 16)
            let outcome = await StoreSimulation.run(plan, fault: Self.losesBodies)
            guard !outcome.problems.isEmpty else { continue }
            var shrinker = SimulationShrinker(fault: Self.losesBodies)
            let (shortest, last) = await shrinker.shrink(plan, outcome)
            #expect(shortest.steps.count <= 4)
            #expect(shortest.devices.count <= 2)
            #expect(!last.problems.isEmpty)
            // Every step matters: without any of them nothing is wrong.
            for place in shortest.steps.indices {
                var shorter = shortest
                shorter.steps.remove(at: place)
                let outcome = await StoreSimulation.run(shorter, fault: Self.losesBodies)
                #expect(outcome.problems.isEmpty)
            }
            let story = SimulationShrinker.story(shortest, last, shrunkFrom: plan.steps.count)
            #expect(story.contains("Scripts/simulate --seeds 1 --from \(seed)"))
            #expect(story.contains("\(shortest.steps.count) of 16 steps"))
            #expect(story.contains(last.problems[0]))
            return
        }
        Issue.record("No schedule lost the body of a note")
    }
}
