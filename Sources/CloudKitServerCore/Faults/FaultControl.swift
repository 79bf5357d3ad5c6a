import Synchronization

/// The fault plan of a service while it runs.
final class FaultControl: Sendable {
    private struct State {
        var script: FaultScript?
        /// A number that changes when a rule is another one at its index.
        var generation = 0
    }

    private let state = Mutex(State())

    /// `true` when there is a plan.
    var isActive: Bool { state.withLock { $0.script != nil } }

    /// The current plan, if there is one.
    var plan: FaultPlan? { state.withLock { $0.script?.plan } }

    /// The counts of each rule of the plan, in the order of the rules.
    var counts: [FaultScript.Count] { state.withLock { $0.script?.counts ?? [] } }

    /// Starts a plan from its beginning; `nil` ends the current one.
    func set(_ plan: FaultPlan?) {
        state.withLock { state in
            state.script = plan.map(FaultScript.init)
            state.generation += 1
        }
    }

    /// Adds the rules of a plan to the current one, whose rules keep their counts; the plan's seed
    /// counts when it is the first.
    func add(_ plan: FaultPlan) {
        state.withLock { state in
            if state.script == nil {
                state.script = FaultScript(plan)
            } else {
                state.script?.add(plan.rules)
            }
        }
    }

    /// Removes a rule of the current plan; the others keep their counts.
    ///
    /// - Returns: `false` when there is no such rule.
    func removeRule(at index: Int) -> Bool {
        state.withLock { state in
            guard let rules = state.script?.plan.rules, rules.indices.contains(index) else {
                return false
            }
            state.script?.remove(at: index)
            if rules.count == 1 { state.script = nil }
            state.generation += 1
            return true
        }
    }

    /// Returns whether a rule's fault depends on whether the tags of a request are current.
    func comparesTags(of subject: FaultSubject) -> Bool {
        plan?.rules.contains { $0.fault == .staleTags && $0.items(of: subject) != nil } == true
    }

    /// Decides the faults of a request.
    func decide(_ subject: FaultSubject, now: Int64) -> FaultDecision {
        state.withLock { state in
            var decision = state.script?.decide(subject, now: now) ?? FaultDecision()
            decision.generation = state.generation
            return decision
        }
    }

    /// Takes back the counts of rules whose faults the client of a request does not see.
    ///
    /// Nothing is taken back after a change of the rules, whose indexes are no longer the same.
    func settle(_ decision: inout FaultDecision, _ outcome: FaultOutcome) {
        guard !decision.matches.isEmpty else { return }
        state.withLock { state in
            guard state.generation == decision.generation else { return }
            state.script?.settle(&decision, outcome)
        }
    }
}
