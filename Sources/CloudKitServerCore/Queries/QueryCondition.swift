import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The wire's comparator; on Apple platforms, Foundation has another type of that name.
typealias WireComparator = CloudKitWire.Comparator

/// A filter that was checked against the schema.
struct QueryCondition {
    let field: QueryField
    let comparator: WireComparator
    /// The operand, or all of them for comparators that accept several values.
    var operands: [WireValue]
    /// The significant words of the operand, for comparators on words.
    let words: Set<String>
    /// The distance in metres, for `NEAR`.
    let distance: Double

    /// Returns the condition for the records of one zone, with references in their normalized form
    /// for it.
    func resolved(in home: ReferenceHome) -> Self {
        guard field.schema.type.scalar == .reference else { return self }
        var resolved = self
        resolved.operands = operands.map { operand in
            guard field.namesUsers, case .reference(let user) = operand else {
                return home.normalized(operand)
            }
            return .reference(WireReference(recordName: user.recordName))
        }
        return resolved
    }

    /// `true` when the condition searches only for very common words, which are ignored.
    private var isIgnored: Bool { comparator.isOnWords && words.isEmpty }

    /// Returns whether a record's value satisfies the condition.
    func matches(_ value: WireValue?) -> Bool {
        if isIgnored { return true }
        if let positive = comparator.negated {
            return !Self.matches(positive, value, operands, words, distance)
        }
        return Self.matches(comparator, value, operands, words, distance)
    }

    private static func matches(
        _ comparator: WireComparator,
        _ value: WireValue?,
        _ operands: [WireValue],
        _ words: Set<String>,
        _ distance: Double
    ) -> Bool {
        guard let value, let operand = operands.first else {
            // An empty list of operands: the value contains all of them, but not any.
            return value != nil && comparator == .listContainsAll
        }
        switch comparator {
        case .equals: return value.isSame(as: operand)
        case .in: return operands.contains { value.isSame(as: $0) }
        case .lessThan: return value.precedes(operand)
        case .lessThanOrEquals: return !operand.precedes(value)
        case .greaterThan: return operand.precedes(value)
        case .greaterThanOrEquals: return !value.precedes(operand)
        case .near: return value.distance(to: operand) <= distance
        case .containsAllTokens: return words.isSubset(of: Words.of(value))
        case .containsAnyTokens: return !words.isDisjoint(with: Words.of(value))
        case .beginsWith: return value.begins(with: operand)
        case .listContains, .listContainsAny:
            return operands.contains { operand in value.elements.contains { $0.isSame(as: operand) }
            }
        case .listContainsAll:
            return operands.allSatisfy { operand in
                value.elements.contains { $0.isSame(as: operand) }
            }
        case .listMemberBeginsWith: return value.elements.contains { $0.begins(with: operand) }
        default: return false
        }
    }
}

extension WireComparator {
    /// The comparator of which this one is the opposite; nil if it is not an opposite.
    ///
    /// A record without a value satisfies the opposites, as in `NSPredicate`.
    var negated: WireComparator? {
        switch self {
        case .notEquals: .equals
        case .notIn: .in
        case .notListContains: .listContains
        case .notListContainsAny: .listContainsAny
        case .notListContainsAll: .listContainsAll
        case .notBeginsWith: .beginsWith
        case .notListMemberBeginsWith: .listMemberBeginsWith
        default: nil
        }
    }
}

extension WireValue {
    /// The elements of a list; empty for other values.
    fileprivate var elements: [WireValue] {
        if case .list(let values, _) = self { values } else { [] }
    }

    /// Returns whether two values are equal in a query: text by its bytes, locations by their
    /// coordinates, references by their target.
    fileprivate func isSame(as other: WireValue) -> Bool {
        switch (self, other) {
        case (.reference(let first), .reference(let second)):
            first.recordName == second.recordName && first.zoneID == second.zoneID
        case (.location(let first), .location(let second)):
            first.latitude == second.latitude && first.longitude == second.longitude
        case (.string(let first), .string(let second)): first.utf8.elementsEqual(second.utf8)
        default: self == other
        }
    }

    /// Returns whether a value sorts before another of its type.
    fileprivate func precedes(_ other: WireValue) -> Bool {
        switch (self, other) {
        case (.string(let first), .string(let second)):
            first.utf8.lexicographicallyPrecedes(second.utf8)
        case (.int64(let first), .int64(let second)),
            (.timestamp(let first), .timestamp(let second)):
            first < second
        case (.double(let first), .double(let second)): first < second
        case (.bytes(let first), .bytes(let second)): first.lexicographicallyPrecedes(second)
        default: false
        }
    }

    fileprivate func begins(with other: WireValue) -> Bool {
        if case .string(let text) = self, case .string(let prefix) = other {
            text.utf8.starts(with: prefix.utf8)
        } else {
            false
        }
    }
}

extension WireValue {
    /// Returns the distance in metres on the great circle between two locations; infinite for other
    /// values.
    func distance(to other: WireValue) -> Double {
        guard case .location(let first) = self, case .location(let second) = other else {
            return .infinity
        }
        return first.distance(to: second)
    }
}
