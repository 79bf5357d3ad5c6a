import Foundation

/// A shrinker that shortens a failing schedule while it fails in the same way.
struct SimulationShrinker {
    /// The fault that happens in the schedules besides their steps.
    let fault: StoreSimulation.Fault?
    /// The maximum number of schedules to try; `Scripts/mutants` needs no short story.
    let limit =
        ProcessInfo.processInfo.environment["CLOUDKIT_STORE_SHRINKING"].flatMap { Int($0) } ?? 150

    private(set) var tried = 0

    init(fault: StoreSimulation.Fault? = nil) {
        self.fault = fault
    }

    /// Returns the invariants that an outcome violates.
    private static func broken(_ outcome: StoreSimulation.Outcome) -> Set<Substring> {
        Set(outcome.problems.map { $0.prefix { $0 != ":" } })
    }

    /// Shortens a failing schedule.
    ///
    /// - Returns: The shortest schedule found, and its outcome.
    mutating func shrink(
        _ plan: SimulationPlan,
        _ outcome: StoreSimulation.Outcome
    ) async -> (plan: SimulationPlan, outcome: StoreSimulation.Outcome) {
        var best = (plan: plan, outcome: outcome)
        let broken = Self.broken(outcome)
        // Steps after the failure cannot matter; halves first, then quarters, then single steps.
        var size = max(1, best.plan.steps.count / 2)
        while true {
            var start = 0
            var isShorter = false
            while start < best.plan.steps.count {
                var plan = best.plan
                plan.steps.removeSubrange(start..<min(start + size, plan.steps.count))
                if let outcome = await fails(plan, broken) {
                    best = (plan, outcome)
                    isShorter = true
                } else {
                    start += size
                }
            }
            if size == 1, !isShorter { break }
            size = max(1, size / 2)
            if tried >= limit { break }
        }
        for place in best.plan.steps.indices {
            guard case .sync(let faults) = best.plan.steps[place].action, !faults.isEmpty else {
                continue
            }
            for fault in faults.indices {
                var plan = best.plan
                var fewer = faults
                fewer.remove(at: fault)
                plan.steps[place].action = .sync(faults: fewer)
                if let outcome = await fails(plan, broken) { best = (plan, outcome) }
            }
        }
        while best.plan.devices.count > 1 {
            var plan = best.plan
            plan.devices.removeLast()
            guard let outcome = await fails(plan, broken) else { break }
            best = (plan, outcome)
        }
        return best
    }

    private mutating func fails(
        _ plan: SimulationPlan,
        _ broken: Set<Substring>
    ) async -> StoreSimulation.Outcome? {
        guard tried < limit else { return nil }
        tried += 1
        let outcome = await StoreSimulation.run(plan, fault: fault)
        return Self.broken(outcome).isDisjoint(with: broken) ? nil : outcome
    }

    /// Returns the steps of a failing schedule, with the command that reproduces it.
    static func story(
        _ plan: SimulationPlan,
        _ outcome: StoreSimulation.Outcome,
        shrunkFrom count: Int
    ) -> String {
        """
        seed \(plan.seed): \(plan.devices.count) devices, \(plan.steps.count) of \(count) steps
        \(outcome.trace.joined(separator: "\n"))
        again: Scripts/simulate --seeds 1 --from \(plan.seed)\(option(plan.variant))
        """
    }

    private static func option(_ variant: SimulationVariant) -> String {
        variant == .plain ? "" : " --variant \(variant)"
    }
}
