import Synchronization

/// The fault plan of a service while it runs.
final class FaultControl: Sendable {
    private let script = Mutex<FaultScript?>(nil)

    /// `true` when there is a plan.
    var isActive: Bool { script.withLock { $0 != nil } }

    /// The current plan, if there is one.
    var plan: FaultPlan? { script.withLock { $0?.plan } }

    /// The counts of each rule of the plan, in the order of the rules.
    var counts: [FaultScript.Count] { script.withLock { $0?.counts ?? [] } }

    /// Starts a plan from its beginning; `nil` ends the current one.
    func set(_ plan: FaultPlan?) {
        script.withLock { $0 = plan.map(FaultScript.init) }
    }

    /// Adds the rules of a plan to the current one, whose rules keep their counts; the plan's seed
    /// counts when it is the first.
    func add(_ plan: FaultPlan) {
        script.withLock { script in
            if script == nil {
                script = FaultScript(plan)
            } else {
                script?.add(plan.rules)
            }
        }
    }

    /// Removes a rule of the current plan; the others keep their counts.
    ///
    /// - Returns: `false` when there is no such rule.
    func removeRule(at index: Int) -> Bool {
        script.withLock { script in
            guard let rules = script?.plan.rules, rules.indices.contains(index) else {
                return false
            }
            script?.remove(at: index)
            if rules.count == 1 { script = nil }
            return true
        }
    }

    /// Decides the faults of a request.
    func decide(_ subject: FaultSubject, now: Int64) -> FaultDecision {
        script.withLock { $0?.decide(subject, now: now) } ?? FaultDecision()
    }
}
