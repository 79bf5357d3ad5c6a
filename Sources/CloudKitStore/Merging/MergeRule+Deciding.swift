extension MergeRule {
    /// Returns the value that resolves a conflict.
    func value(of conflict: FieldConflict) -> StoreValue {
        switch self {
        case .laterEdit: Self.later(conflict)
        case .server: conflict.remote
        case .client: conflict.local
        case .minimum: Self.extreme(conflict) { $0 < $1 }
        case .maximum: Self.extreme(conflict) { $0 > $1 }
        case .counter: Self.sum(conflict) ?? Self.later(conflict)
        case .set: Self.union(conflict) ?? Self.later(conflict)
        case .custom(let decide): decide(conflict)
        }
    }

    /// Returns whether the value includes both edits, so that neither was overruled.
    func combines(_ conflict: FieldConflict) -> Bool {
        switch self {
        case .counter: Self.sum(conflict) != nil
        case .set: Self.union(conflict) != nil
        default: false
        }
    }

    /// The rule when the base is unknown because an earlier version of the app had another rule.
    var withoutBase: MergeRule {
        switch self {
        case .counter, .set: .laterEdit
        default: self
        }
    }

    /// The rule between two values that nobody edited, which are no steps and belong to no device.
    var withoutEdits: MergeRule {
        switch self {
        case .minimum, .maximum, .set: self
        default: .laterEdit
        }
    }

    // MARK: Deciding

    /// Returns the later edit; equal times, which order nothing, are resolved by the values, so
    /// that every device decides the same way.
    private static func later(_ conflict: FieldConflict) -> StoreValue {
        if conflict.localTime != conflict.remoteTime {
            return conflict.localTime < conflict.remoteTime ? conflict.remote : conflict.local
        }
        return conflict.local.sortKey < conflict.remote.sortKey ? conflict.remote : conflict.local
    }

    /// Returns the value that sorts first; null sorts after every other value, so that it never wins.
    private static func extreme(
        _ conflict: FieldConflict,
        _ comesFirst: (StoreValue, StoreValue) -> Bool
    ) -> StoreValue {
        if conflict.local.isNull { return conflict.remote }
        if conflict.remote.isNull { return conflict.local }
        return comesFirst(conflict.remote, conflict.local) ? conflict.remote : conflict.local
    }

    private static func sum(_ conflict: FieldConflict) -> StoreValue? {
        let base = conflict.base.isNull ? .integer(0) : conflict.base
        switch (base.plain, conflict.local.plain, conflict.remote.plain) {
        case (.integer(let base), .integer(let local), .integer(let remote)):
            // A sum beyond 64 bits is none: the later edit decides.
            let (step, isFar) = local.subtractingReportingOverflow(base)
            let (sum, isTooFar) = remote.addingReportingOverflow(step)
            return isFar || isTooFar ? nil : .integer(sum)
        case (_, .real(let local), .real(let remote)):
            guard let base = base.number else { return nil }
            let sum = remote + local - base
            return sum.isFinite ? .real(sum) : nil
        default: return nil
        }
    }

    private static func union(_ conflict: FieldConflict) -> StoreValue? {
        guard let base = conflict.base.elements, let local = conflict.local.elements,
            let remote = conflict.remote.elements
        else { return nil }
        let (ours, theirs) = (Set(local), Set(remote))
        // Sorted, so that every device gets the same list, whichever merges first.
        let kept = base.filter { ours.contains($0) && theirs.contains($0) }
        let added = ours.union(theirs).subtracting(base).sorted { $0.sortKey < $1.sortKey }
        return .list(kept + added)
    }
}
