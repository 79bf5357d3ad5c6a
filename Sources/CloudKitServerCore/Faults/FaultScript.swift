/// The state of a running plan: the counts of each rule, and the state of its random numbers.
///
/// A pure value: the same plan and the same subjects produce the same decisions.
struct FaultScript: Sendable {
    /// The number of times that a rule matched and took effect.
    struct Count: Hashable, Sendable {
        var fitting = 0
        var taken = 0
    }

    private(set) var plan: FaultPlan
    private(set) var counts: [Count] = []
    private var chances: [SeededGenerator] = []
    private var buckets: [[String: ThrottleProfile.Bucket]] = []
    /// The rules in the order of their turns: those that hide others first, and of the same kind the first.
    private var turns: [Int] = []
    /// The number of rules that there have been, which gives the next one its random sequence.
    private var sequences: UInt64 = 0

    init(_ plan: FaultPlan) {
        self.plan = FaultPlan(seed: plan.seed)
        add(plan.rules)
    }

    /// Adds rules; those in force go on where they are.
    mutating func add(_ rules: [FaultRule]) {
        for rule in rules {
            plan.rules.append(rule)
            counts.append(Count())
            // Each rule has its own random sequence, so that adding a rule does not change the others.
            chances.append(SeededGenerator(seed: plan.seed &+ sequences &* 0x9E37))
            buckets.append([:])
            sequences += 1
        }
        orderTurns()
    }

    /// Removes a rule; the others go on where they are.
    mutating func remove(at index: Int) {
        plan.rules.remove(at: index)
        counts.remove(at: index)
        chances.remove(at: index)
        buckets.remove(at: index)
        orderTurns()
    }

    private mutating func orderTurns() {
        turns = plan.rules.indices.sorted {
            (plan.rules[$0].fault.turn, $0) < (plan.rules[$1].fault.turn, $1)
        }
    }

    /// Decides the faults of a request.
    mutating func decide(_ subject: FaultSubject, now: Int64) -> FaultDecision {
        var decision = FaultDecision()
        for index in turns {
            guard let items = plan.rules[index].items(of: subject),
                let isTaken = take(index, items, of: subject, now: now, &decision)
            else { continue }
            counts[index].fitting += 1
            decision.matches.append(.init(rule: index, items: items, isTaken: isTaken))
            guard isTaken else { continue }
            counts[index].taken += 1
            decision.rules.append(index)
        }
        decision.rules.sort()
        return decision
    }

    /// Adds the fault of a matching rule to a decision if it is its turn.
    ///
    /// - Returns: Whether it was; nil if others hide the fault, so that the rule does not match.
    private mutating func take(
        _ index: Int,
        _ items: Set<Int>,
        of subject: FaultSubject,
        now: Int64,
        _ decision: inout FaultDecision
    ) -> Bool? {
        let rule = plan.rules[index]
        if let call = rule.call, call != counts[index].fitting + 1 { return false }
        if let times = rule.times, counts[index].taken >= times { return false }
        if let probability = rule.probability, chances[index].fraction() >= probability {
            return false
        }
        guard case .throttle(let profile) = rule.fault else {
            return decision.add(rule.fault, items) ? true : nil
        }
        guard !decision.hides(rule.fault) else { return nil }
        guard let seconds = take(items.count, subject, index, profile, now) else { return false }
        decision.throttle(seconds: seconds)
        return true
    }

    /// Takes back the counts of rules whose faults the client of a request does not see.
    mutating func settle(_ decision: inout FaultDecision, _ outcome: FaultOutcome) {
        for match in decision.matches {
            let fault = plan.rules[match.rule].fault
            guard !fault.changes(outcome, of: match.items) else { continue }
            counts[match.rule].fitting -= 1
            guard match.isTaken else { continue }
            counts[match.rule].taken -= 1
            decision.rules.removeAll { $0 == match.rule }
        }
    }

    private mutating func take(
        _ items: Int,
        _ subject: FaultSubject,
        _ rule: Int,
        _ profile: ThrottleProfile,
        _ now: Int64
    ) -> Double? {
        let caller = subject.userNames.min() ?? ""
        var bucket = buckets[rule][caller] ?? ThrottleProfile.Bucket(profile, now: now)
        defer { buckets[rule][caller] = bucket }
        return bucket.take(items, profile, now: now)
    }
}
