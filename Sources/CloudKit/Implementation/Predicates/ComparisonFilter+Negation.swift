import CloudKitWire

extension ComparisonFilter {
    /// Negates the comparison.
    ///
    /// - Throws: `PredicateError` for comparisons that CloudKit cannot negate: `BETWEEN`, distances
    ///   and searches for words.
    mutating func negate() throws(PredicateError) {
        if case .function = comparison.left { throw unnegatable }
        guard !matchesNothing else {
            everything()
            return
        }
        guard filters.count == 1, let opposite = filters[0].comparator.opposite else {
            throw unnegatable
        }
        replace(comparator: opposite)
    }
}

extension WireComparator {
    /// The comparator that matches exactly when this one does not.
    fileprivate var opposite: WireComparator? {
        switch self {
        case .equals: .notEquals
        case .notEquals: .equals
        case .lessThan: .greaterThanOrEquals
        case .lessThanOrEquals: .greaterThan
        case .greaterThan: .lessThanOrEquals
        case .greaterThanOrEquals: .lessThan
        case .in: .notIn
        case .notIn: .in
        case .listContains: .notListContains
        case .notListContains: .listContains
        case .listContainsAny: .notListContainsAny
        case .notListContainsAny: .listContainsAny
        case .listContainsAll: .notListContainsAll
        case .notListContainsAll: .listContainsAll
        case .beginsWith: .notBeginsWith
        case .notBeginsWith: .beginsWith
        case .listMemberBeginsWith: .notListMemberBeginsWith
        case .notListMemberBeginsWith: .listMemberBeginsWith
        case .near, .containsAllTokens, .containsAnyTokens: nil
        }
    }
}
