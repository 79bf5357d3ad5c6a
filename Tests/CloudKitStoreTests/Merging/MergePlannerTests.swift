import CloudKitStore
import Testing

@Suite("The merge planner, tried on every combination")
struct MergePlannerTests {
    /// The sides of a merge: no row, or a row whose field has one of three values, or none.
    private static let sides: [StoreValue??] = [
        .none, .some(nil), .some(.integer(1)), .some(.integer(2)), .some(.integer(3)),
    ]

    struct Case: CustomTestStringConvertible {
        var name: String
        var rule: MergeRule
        /// `true` when the rule treats both sides alike.
        var isSymmetric = true
        /// `true` when the result may be a value that neither side has.
        var combines = false

        var testDescription: String { name }
    }

    static let everyRule: [Case] = [
        Case(name: "laterEdit", rule: .laterEdit),
        Case(name: "server", rule: .server, isSymmetric: false),
        Case(name: "client", rule: .client, isSymmetric: false),
        Case(name: "minimum", rule: .minimum),
        Case(name: "maximum", rule: .maximum),
        Case(name: "counter", rule: .counter, combines: true),
        Case(name: "set", rule: .set),
        Case(name: "custom", rule: .custom { max($0.local, $0.remote) }),
    ]

    /// One combination of sides and times.
    struct Combination {
        var base: [String: StoreValue]?
        var local: [String: StoreValue]?
        var remote: [String: StoreValue]?
        var localTime: Int64
        var remoteTime: Int64

        var isEdited: Bool { local != nil && value(local) != value(base) }

        func value(_ side: [String: StoreValue]?) -> StoreValue { side?["f"] ?? .null }

        var swapped: Combination {
            Combination(
                base: base,
                local: remote,
                remote: local,
                localTime: remoteTime,
                remoteTime: localTime
            )
        }

        /// Returns the plan; the device's name is swapped with the side, like the edits.
        func plan(_ rule: MergeRule, _ deletion: DeletionRule, isSwapped: Bool = false) -> MergePlan
        {
            let planner = MergePlanner(
                edited: isEdited ? ["f"] : [],
                deletion: deletion
            ) { _ in rule }
            let devices = isSwapped ? ("b", "a") : ("a", "b")
            return planner.plan(
                base: base,
                local: local.map {
                    MergeVersion(
                        fields: $0,
                        times: ["f": EditTime(microseconds: localTime, device: devices.0)]
                    )
                },
                remote: remote.map {
                    MergeVersion(
                        fields: $0,
                        times: ["f": EditTime(microseconds: remoteTime, device: devices.1)]
                    )
                }
            )
        }
    }

    static var combinations: [Combination] {
        var all: [Combination] = []
        func row(_ side: StoreValue??) -> [String: StoreValue]? {
            guard let side else { return nil }
            return side.map { ["f": $0] } ?? [:]
        }
        for base in sides {
            for local in sides {
                for remote in sides {
                    for (localTime, remoteTime) in [(1, 2), (2, 1), (1, 1)] as [(Int64, Int64)] {
                        all.append(
                            Combination(
                                base: row(base),
                                local: row(local),
                                remote: row(remote),
                                localTime: localTime,
                                remoteTime: remoteTime
                            )
                        )
                    }
                }
            }
        }
        return all
    }

    private static let deletions: [DeletionRule] = [.editWins, .deletionWins]

    private func forAll(
        _ rule: MergeRule,
        _ check: (Combination, MergePlan, DeletionRule) -> Void
    ) {
        for combination in Self.combinations {
            for deletion in Self.deletions {
                check(combination, combination.plan(rule, deletion), deletion)
            }
        }
    }

    @Test("All 375 combinations are there")
    func count() {
        #expect(Self.combinations.count == 5 * 5 * 5 * 3)
    }

    @Test("A row without edits follows the server and sends nothing", arguments: everyRule)
    func follows(_ rule: Case) {
        forAll(rule.rule) { combination, plan, _ in
            guard combination.local != nil, combination.base != nil, !combination.isEdited else {
                return
            }
            #expect(plan.sending == .nothing)
            #expect(plan.overruled.isEmpty)
            #expect((plan.row == nil) == (combination.remote == nil), "\(combination)")
            #expect(
                combination.remote == nil
                    || combination.value(plan.row) == combination.value(combination.remote),
                "\(combination)"
            )
        }
    }

    @Test("An edit of what the server did not change stays, and is sent", arguments: everyRule)
    func stays(_ rule: Case) {
        forAll(rule.rule) { combination, plan, _ in
            guard combination.isEdited, combination.remote != nil,
                combination.value(combination.remote) == combination.value(combination.base)
            else { return }
            #expect(combination.value(plan.row) == combination.value(combination.local))
            #expect(plan.sending == .save(["f"]))
            #expect(plan.overruled.isEmpty)
        }
    }

    @Test("What is sent makes the server's row equal to this device's", arguments: everyRule)
    func converges(_ rule: Case) {
        forAll(rule.rule) { combination, plan, _ in
            switch plan.sending {
            case .nothing:
                #expect((plan.row == nil) == (combination.remote == nil), "\(combination) \(plan)")
                #expect(combination.value(plan.row) == combination.value(combination.remote))
            case .save(let fields):
                #expect(plan.row != nil)
                #expect(
                    fields == ["f"] || combination.remote == nil,
                    "\(combination) \(plan)"
                )
            case .deletion:
                #expect(plan.row == nil)
                #expect(combination.remote != nil)
            }
        }
    }

    @Test("Every value was somebody's, or is the sum of two edits", arguments: everyRule)
    func invents(_ rule: Case) {
        forAll(rule.rule) { combination, plan, _ in
            guard let row = plan.row, !rule.combines else { return }
            let known = [combination.base, combination.local, combination.remote]
                .map { combination.value($0) }
            #expect(known.contains(combination.value(row)), "\(combination)")
        }
    }

    @Test("An edit that is not in the row is in the journal", arguments: everyRule)
    func loses(_ rule: Case) {
        forAll(rule.rule) { combination, plan, _ in
            guard combination.isEdited, !rule.combines else { return }
            let value = combination.value(combination.local)
            if plan.row != nil, combination.value(plan.row) == value { return }
            #expect(
                plan.overruled.contains { $0.side == .local && ($0.fields["f"] ?? .null) == value },
                "\(combination) \(plan)"
            )
        }
    }

    @Test("Whichever side reaches the server first, the row is the same", arguments: everyRule)
    func order(_ rule: Case) {
        guard rule.isSymmetric else { return }
        forAll(rule.rule) { combination, plan, deletion in
            // Both sides are edits, or one of them is a deletion, of a row that both had.
            guard combination.base != nil, combination.isEdited || combination.local == nil,
                combination.swapped.isEdited || combination.remote == nil
            else { return }
            let other = combination.swapped.plan(rule.rule, deletion, isSwapped: true)
            #expect(
                plan.row.map { combination.value($0) } == other.row.map { combination.value($0) },
                "\(combination): \(plan) and \(other)"
            )
        }
    }

    @Test("Deciding again, after the server accepted, changes nothing", arguments: everyRule)
    func repeats(_ rule: Case) {
        forAll(rule.rule) { combination, plan, deletion in
            let after = Combination(
                base: plan.row,
                local: plan.row,
                remote: plan.row,
                localTime: combination.localTime,
                remoteTime: combination.remoteTime
            )
            let again = after.plan(rule.rule, deletion)
            #expect(again.row == plan.row)
            #expect(again.sending == .nothing)
        }
    }

    @Test(
        "The rules decide as their names say",
        arguments: [
            (MergeRule.minimum, 5, 9, 5), (.maximum, 5, 9, 9), (.counter, 5, 9, 14),
            (.server, 5, 9, 9), (.client, 5, 9, 5),
        ] as [(MergeRule, Int64, Int64, Int64)]
    )
    func decides(_ rule: MergeRule, local: Int64, remote: Int64, expected: Int64) {
        let combination = Combination(
            base: ["f": .integer(0)],
            local: ["f": .integer(local)],
            remote: ["f": .integer(remote)],
            localTime: 1,
            remoteTime: 2
        )
        #expect(combination.plan(rule, .editWins).row == ["f": .integer(expected)])
    }

    @Test("A value that was changed and changed back is an edit", arguments: [true, false])
    func overwritten(_ isLocal: Bool) {
        let (back, other) = (isLocal ? ("local", "remote") : ("remote", "local"))
        for (backTime, otherTime) in [(1, 2), (2, 1)] as [(Int64, Int64)] {
            let sides = [
                back: MergeVersion(
                    fields: ["f": .integer(1)],
                    times: ["f": EditTime(microseconds: backTime, device: back)],
                    overwritten: ["f"]
                ),
                other: MergeVersion(
                    fields: ["f": .integer(2)],
                    times: ["f": EditTime(microseconds: otherTime, device: other)]
                ),
            ]
            let planner = MergePlanner(edited: ["f"]) { _ in .laterEdit }
            let plan = planner.plan(
                base: ["f": .integer(1)],
                local: sides["local"],
                remote: sides["remote"]
            )
            #expect(plan.row == ["f": .integer(backTime > otherTime ? 1 : 2)])
            #expect(plan.overruled.map(\.fields) == [["f": .integer(backTime > otherTime ? 2 : 1)]])
            // A row that was deleted elsewhere stays.
            let deleted = planner.plan(
                base: ["f": .integer(1)],
                local: isLocal ? sides[back] : nil,
                remote: isLocal ? nil : sides[back]
            )
            #expect(deleted.row == ["f": .integer(1)])
        }
        // The server has the value, but not that it was edited.
        let planner = MergePlanner(edited: ["f"]) { _ in .laterEdit }
        let plan = planner.plan(
            base: ["f": .integer(1)],
            local: MergeVersion(fields: ["f": .integer(1)], overwritten: ["f"]),
            remote: MergeVersion(fields: ["f": .integer(1)])
        )
        #expect(plan.sending == .save(["f"]))
    }

    @Test("Sets add and remove what either side did", arguments: [true, false])
    func sets(_ isSwapped: Bool) {
        func list(_ text: String) -> [String: StoreValue] {
            ["f": .list(text.map { .text(String($0)) })]
        }
        var combination = Combination(
            base: list("abc"),
            local: list("acx"),
            remote: list("bcy"),
            localTime: 1,
            remoteTime: 2
        )
        if isSwapped { combination = combination.swapped }
        #expect(combination.plan(.set, .editWins).row == list("cxy"))
    }

    @Test("A counter that would overflow falls back to the later edit")
    func overflow() {
        let combination = Combination(
            base: ["f": .integer(0)],
            local: ["f": .integer(.max)],
            remote: ["f": .integer(.max - 1)],
            localTime: 1,
            remoteTime: 2
        )
        #expect(combination.plan(.counter, .editWins).row == ["f": .integer(.max - 1)])
    }
}
