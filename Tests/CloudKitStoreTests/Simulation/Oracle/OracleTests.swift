import Testing

@Suite("The oracle that knows which value must be where")
struct OracleTests {
    @Test(
        "It agrees with what devices hold after random schedules",
        .timeLimit(.minutes(20)),
        arguments: [.plain, .meetings] as [SimulationVariant]
    )
    func schedules(_ variant: SimulationVariant) async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let plan = SimulationPlan(seed: seed, variant: variant)
            let outcome = await StoreSimulation.run(plan)
            #expect(outcome.problems == [], "seed \(seed)")
        }
    }

    @Test(
        "It agrees with what comes of two edits of one field, whoever syncs first",
        arguments: [
            .title, .low, .high, .server, .client, .custom, .count, .addTag, .removeTag, .photo,
            .carry,
        ] as [SimulationStep.Edit]
    )
    func meetings(_ edit: SimulationStep.Edit) async {
        for first in 0...1 {
            let plan = SimulationPlan(
                deviceCount: 2,
                [
                    (0, .edit(.insertFolder)), (0, .edit(.insertFolder)), (0, .edit(.insertNote)),
                    (0, .edit(.addTag)), (0, .edit(.addTag)), (0, .sync(faults: [])),
                    (1, .sync(faults: [])), (0, .edit(edit)), (1, .edit(edit)),
                    (first, .sync(faults: [])), (1 - first, .sync(faults: [])),
                ]
            )
            let outcome = await StoreSimulation.run(plan)
            #expect(outcome.problems == [])
        }
    }

    @Test(
        "It agrees with what comes of an edit and a deletion of one row, whoever syncs first",
        arguments: 0...1
    )
    func deletions(_ first: Int) async {
        let plan = SimulationPlan(
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .sync(faults: [])), (1, .sync(faults: [])),
                (0, .edit(.title)), (1, .edit(.deleteNote)), (first, .sync(faults: [])),
                (1 - first, .sync(faults: [])),
            ]
        )
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems == [])
    }

    @Test("It agrees with what a row has that an edit saved from its deletion")
    func survivors() async {
        let plan = SimulationPlan(
            deviceCount: 2,
            [
                (0, .edit(.insertNote)), (0, .sync(faults: [])), (1, .sync(faults: [])),
                (0, .edit(.title)), (0, .sync(faults: [])), (1, .edit(.client)),
                (0, .edit(.deleteNote)), (0, .sync(faults: [])), (1, .sync(faults: [])),
            ]
        )
        let outcome = await StoreSimulation.run(plan)
        #expect(outcome.problems == [])
    }

    /// A conflict: two devices overwrite one value, and the first one reaches the service first.
    struct Conflict: CustomTestStringConvertible {
        var rule: OracleRule
        var first: OracleValue
        var second: OracleValue
        /// `true` when the second device's value has to win.
        var secondWins: Bool

        var testDescription: String { "\(rule): \(first), then \(second)" }

        /// Returns the field after both wrote, the first was accepted, and the second merged it.
        func field(from base: OracleValue = .text("base")) -> OracleField {
            var field = OracleField(rule)
            #expect(field.write(base, over: nil, by: 0, at: 1, isTimed: true) == nil)
            #expect(field.save(base, by: 0) == nil)
            #expect(field.write(second, over: base, by: 1, at: 2, isTimed: true) == nil)
            #expect(field.write(first, over: base, by: 0, at: 3, isTimed: true) == nil)
            #expect(field.save(first, by: 0) == nil)
            return field
        }
    }

    private static let conflicts = [
        Conflict(rule: .server, first: .text("a"), second: .text("b"), secondWins: false),
        Conflict(rule: .client, first: .text("a"), second: .text("b"), secondWins: true),
        Conflict(rule: .later, first: .text("a"), second: .text("b"), secondWins: false),
        Conflict(rule: .smallest, first: .number(5), second: .number(3), secondWins: true),
        Conflict(rule: .smallest, first: .number(3), second: .none, secondWins: false),
        Conflict(rule: .greatest, first: .number(5), second: .number(3), secondWins: false),
        Conflict(rule: .greatest, first: .none, second: .number(3), secondWins: true),
        Conflict(rule: .sortsLater, first: .text("a"), second: .text("b"), secondWins: true),
        Conflict(rule: .sortsLater, first: .none, second: .text("b"), secondWins: true),
        Conflict(rule: .sortsLater, first: .text("b"), second: .text("a"), secondWins: false),
    ]

    @Test("It accepts the value that has to win, and objects to the other", arguments: conflicts)
    func winners(_ conflict: Conflict) {
        // The second device can only win by sending.
        var sending = conflict.field()
        #expect((sending.save(conflict.second, by: 1) == nil) == conflict.secondWins)
        let silent = conflict.field()
        #expect((silent.rest(conflict.first, on: 1) == nil) == !conflict.secondWins)
    }

    @Test("It objects to values that nobody wrote, that were never sent, and that are old")
    func lost() {
        let conflict = Self.conflicts[2]
        var field = conflict.field()
        #expect(field.save(.text("invented"), by: 1) != nil)
        field = conflict.field()
        #expect(field.rest(.text("base"), on: 1) != nil)
        let invented = OracleValue.text("invented")
        #expect(field.write(.text("new"), over: invented, by: 1, at: 4, isTimed: true) != nil)
        field = conflict.field()
        #expect(field.write(.text("new"), over: .text("a"), by: 1, at: 4, isTimed: true) == nil)
        #expect(field.rest(.text("new"), on: 1) != nil)
        #expect(field.save(.text("new"), by: 1) == nil)
        #expect(field.rest(.text("new"), on: 1) == nil)
        #expect(field.rest(.text("a"), on: 0) != nil)
    }

    @Test(
        "It expects what both devices did to counters and lists, and no other value",
        arguments: [
            (.sum, .number(5), .number(7), .number(6), .number(8)),
            (.sum, .none, .number(2), .number(2), .number(4)),
            (.set, .list(["a", "b"]), .list(["b"]), .list(["a", "b", "c"]), .list(["b", "c"])),
            (.set, .none, .list(["a"]), .list(["b"]), .list(["a", "b"])),
        ] as [(OracleRule, OracleValue, OracleValue, OracleValue, OracleValue)]
    )
    func combinations(
        _ rule: OracleRule,
        _ base: OracleValue,
        _ first: OracleValue,
        _ second: OracleValue,
        _ both: OracleValue
    ) {
        var field = Conflict(rule: rule, first: first, second: second, secondWins: false)
            .field(from: base)
        var other = field
        // A value that stays as it was says nothing.
        #expect(other.save(second, by: 1) != nil || second == both || second == first)
        #expect(field.rest(first, on: 1) != nil)
        #expect(field.save(both, by: 1) == nil)
        #expect(field.rest(both, on: 0) == nil)
        #expect(field.rest(both, on: 1) == nil)
    }

    @Test("It says nothing of whose time nobody knows")
    func unknownTimes() {
        for value in ["a", "b"] {
            var field = OracleField(.later)
            #expect(field.write(.text("a"), over: nil, by: 0, at: 1, isTimed: false) == nil)
            #expect(field.save(.text("a"), by: 0) == nil)
            #expect(field.write(.text("b"), over: nil, by: 1, at: 2, isTimed: true) == nil)
            if value == "b" { #expect(field.save(.text("b"), by: 1) == nil) }
            #expect(field.rest(.text(value), on: 1) == nil)
        }
    }
}
