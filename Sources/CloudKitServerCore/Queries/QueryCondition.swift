import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The wire's comparator, which Foundation has another of on Apple platforms.
typealias WireComparator = CloudKitWire.Comparator

/// A filter that was checked against the schema.
struct QueryCondition {
    let field: QueryField
    let comparator: WireComparator
    /// The operand; for the comparators that take several values, all of them.
    var operands: [WireValue]
    /// The words of the operand that count, for the comparators on words.
    let words: Set<String>
    /// Metres, for `NEAR`.
    let distance: Double

    /// The condition as it is asked of the records of one zone: references in the form in which they
    /// are compared there.
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

    /// Whether the condition is a search whose words all stand in most texts, which are ignored.
    private var isIgnored: Bool { comparator.isOnWords && words.isEmpty }

    /// Whether a record's value satisfies the condition.
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
            // An empty list of operands: none of nothing, all of nothing.
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
    /// The comparator that this one is the opposite of; nil for one that is none.
    ///
    /// A record without a value satisfies the opposites, as `NSPredicate` has it.
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
    /// The elements of a list; nothing for other values.
    fileprivate var elements: [WireValue] {
        if case .list(let values, _) = self { values } else { [] }
    }

    /// Whether two values are the same to a query: text by its bytes, locations by their
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

    /// Whether a value sorts before another of its type.
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
