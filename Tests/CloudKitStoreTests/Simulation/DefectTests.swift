import CloudKitStore
import Testing

@Suite("Defects that are put into the store on purpose")
struct DefectTests {
    /// The number of schedules within which each defect has to be found.
    private static let limit: UInt64 = 200

    /// The first seeds that found defects, tried before the others; 1 to 3 for the rest.
    private static let seeds: [StoreDefect: UInt64] = [
        .failsOnUnknownTypes: 4, .dropsUnknownTypes: 4, .ignoresDeletions: 6, .mixesAccounts: 7,
        .dropsUnanswered: 7, .mergesWithoutBase: 7, .ignoresClearedFields: 7,
        .dropsUnknownFields: 8, .clearsAssets: 10, .failsOnMissingParents: 15,
        .deletesRefusedChildren: 17, .ignoresStamp: 34,
        .leavesReferences: 2, .ignoresPermissions: 6, .forgetsRefused: 19, .staysByArrival: 50,
    ]

    /// The defects that only schedules of a variant can find.
    private static let variants: [StoreDefect: SimulationVariant] = [
        .staysByArrival: .unique, .leavesReferences: .unique, .forgetsDisplaced: .unique,
        .ignoresPermissions: .permissions, .forgetsRefused: .permissions,
        .keepsLostRows: .permissions,
    ]

    /// Defects that need more schedules than those here, or the schedules of ``FamilyTests``.
    private static let rare: Set<StoreDefect> = [
        .acknowledgesTooMuch, .dropsConflicts, .deletesBlindly, .forgetsReinsertions, .skipsSweep,
        .leavesUnlinked,
    ]

    @Test(
        "Random schedules find the defect",
        arguments: StoreDefect.allCases.filter { !rare.contains($0) }
    )
    func discovery(_ defect: StoreDefect) async {
        let known = Self.seeds[defect].map { [$0] } ?? []
        let variant = Self.variants[defect] ?? .plain
        for seed in known + Array(1...Self.limit) {
            let plan = SimulationPlan(seed: seed, variant: variant)
            let outcome = await StoreSimulation.run(plan, defect: defect)
            guard outcome.problems.isEmpty else {
                print("\(defect) is found by seed \(seed): \(outcome.problems[0])")
                return
            }
        }
        Issue.record("\(Self.limit) schedules did not find \(defect)")
    }

    @Test("What leaves the outbox too early is lost by a process that ends while an asset travels")
    func upload() async {
        let plan = SimulationPlan(
            .assets,
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .sync(faults: [])), (0, .edit(.photo)),
                (0, .crash(.beforeUpload(0))),
            ]
        )
        let outcome = await StoreSimulation.run(plan, defect: .clearsWhenSending)
        #expect(!outcome.problems.isEmpty)
    }

    @Test("A failing schedule is told in a few steps, with the command that repeats it")
    func shrinking() async {
        let defect = StoreDefect.discardsRemoteFields
        for seed in 1...Self.limit {
            let plan = SimulationPlan(seed: seed, stepCount: 16)
            let outcome = await StoreSimulation.run(plan, defect: defect)
            guard !outcome.problems.isEmpty else { continue }
            var shrinker = SimulationShrinker(defect: defect)
            let (shortest, last) = await shrinker.shrink(plan, outcome)
            #expect(shortest.steps.count <= 8)
            #expect(!last.problems.isEmpty)
            // Every step matters: without any of them there is no failure.
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
