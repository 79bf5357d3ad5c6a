import CloudKitTesting
import Testing

/// The schedules that once found a defect.
@Suite("Schedules that found a mistake in the store")
struct RememberedSchedules {
    @Test(
        "A power cut makes no step of a counter count twice, whichever transaction it takes",
        arguments: 1...20
    )
    func powerCut(_ commit: Int) async {
        let plan = SimulationPlan(
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .sync(faults: [])), (0, .edit(.count)),
                (0, .crash(.withoutCommit(commit))), (0, .edit(.count)), (1, .sync(faults: [])),
            ]
        )
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }

    @Test("A row that goes with its parent, and that whoever deleted that never saw, is kept")
    func unseenChild() async {
        let plan = SimulationPlan(
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .sync(faults: [])), (1, .sync(faults: [])),
                (0, .edit(.insertMark)), (0, .sync(faults: [])), (1, .edit(.deleteNote)),
                (1, .sync(faults: [])),
            ]
        )
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }

    @Test("A process that ends while an asset travels loses nothing")
    func upload() async {
        let plan = SimulationPlan(
            .assets,
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .sync(faults: [])), (0, .edit(.photo)),
                (0, .crash(.beforeUpload(0))),
            ]
        )
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }

    @Test("A counter that two devices send again into a new zone counts once")
    func newZoneCounters() async {
        let plan = SimulationPlan(
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .edit(.count)), (0, .sync(faults: [])),
                (1, .sync(faults: [])), (1, .edit(.count)), (0, .loseZone),
                (0, .edit(.count)), (0, .sync(faults: [])),
            ]
        )
        let outcome = await StoreSimulation.run(plan, checksSums: true)
        #expect(outcome.problems.isEmpty)
    }

    @Test("All tables' rows go into a new zone, however few a batch holds")
    func newZoneTables() async {
        var plan = SimulationPlan(
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .edit(.insertFolder)), (0, .edit(.insertItem)),
                (0, .edit(.insertNote)), (0, .edit(.insertFolder)), (0, .edit(.insertItem)),
                (0, .sync(faults: [])), (0, .loseZone), (0, .sync(faults: [])),
            ]
        )
        for index in plan.devices.indices { plan.devices[index].batchLimit = 2 }
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }

    @Test("A row that is deleted while others fetch does not come back")
    func lateDeletion() async {
        for request in 0...4 {
            let plan = SimulationPlan(
                deviceCount: 3,
                [
                    (0, .edit(.insertFolder)), (0, .sync(faults: [])), (1, .sync(faults: [])),
                    (2, .edit(.insertItem)), (2, .sync(faults: [])),
                    (2, .race(beforeRequest: request, editor: 1)),
                ]
            )
            let outcome = await StoreSimulation.run(plan)
            #expect(outcome.problems.isEmpty)
        }
    }

    @Test("Rows are sent again after their zone was deleted, and another device made a new one")
    func newZone() async {
        let plan = SimulationPlan(
            deviceCount: 3,
            [
                (0, .edit(.insertNote)), (0, .sync(faults: [])), (1, .sync(faults: [])),
                (0, .loseZone), (2, .edit(.insertNote)), (2, .sync(faults: [])),
            ]
        )
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }

    @Test("What a batch had no room for follows it into a new zone")
    func newZoneInParts() async {
        var plan = SimulationPlan(
            deviceCount: 2,
            [
                (0, .edit(.addTag)), (0, .sync(faults: [])), (0, .edit(.insertFolder)),
                (0, .loseZone), (1, .edit(.insertNote)), (1, .sync(faults: [])),
            ]
        )
        plan.devices[0].batchLimit = 2
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }

    @Test("A conflict with a record that has an asset is merged once the file has come")
    func conflictWithAsset() async {
        let stale = FaultRule(.staleTags, operation: "records/modify", call: 1)
        let plan = SimulationPlan(
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .edit(.photo)), (0, .sync(faults: [])),
                (1, .sync(faults: [])), (0, .edit(.addTag)), (0, .sync(faults: [stale])),
            ]
        )
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }

    @Test(
        "An asset comes whole after a process that ended while it travelled",
        arguments: [
            .beforeUpload(0), .afterUpload(0), .beforeDownload(0), .afterDownload(0),
        ] as [SimulationStep.Crash]
    )
    func assetOnItsWay(_ crash: SimulationStep.Crash) async {
        let plan = SimulationPlan(
            .assets,
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .edit(.photo)), (0, .crash(crash)),
                (0, .sync(faults: [])), (1, .crash(crash)), (1, .sync(faults: [])),
            ]
        )
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }

    @Test("A new branch with rows in it is in the journal when the right to add it was taken away")
    func refusedBranch() async {
        // Some new cards have their own branch; one of these seeds creates such a card.
        for seed in 0..<12 as Range<UInt64> {
            var plan = SimulationPlan(
                .permissions,
                deviceCount: 2,
                [(0, .share(.readOnly, crash: nil)), (1, .edit(.insertCard))]
            )
            plan.steps[1].seed = seed
            let outcome = await StoreSimulation.run(plan)
            #expect(outcome.problems.isEmpty)
        }
    }

    @Test(
        "A label that is made again under its name stays, and what gave way takes its rows along",
        arguments: [34, 40, 44, 45, 49, 52, 55, 56, 87] as [UInt64]
    )
    func uniqueNames(_ seed: UInt64) async {
        let plan = SimulationPlan(seed: seed, variant: .unique, stepCount: 30)
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }

    @Test(
        "Rows of a shared tree are the same for both users",
        arguments: [3, 10, 18, 20, 24, 26, 27] as [UInt64]
    )
    func sharedTrees(_ seed: UInt64) async {
        let plan = SimulationPlan(seed: seed, variant: .permissions, stepCount: 30)
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems.isEmpty)
    }
}
