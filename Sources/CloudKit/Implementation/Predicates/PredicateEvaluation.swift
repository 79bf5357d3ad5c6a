import CloudKitWire
import CoreLocation
import Foundation

/// The evaluation of a predicate for an object in memory: a record, or anything else whose members
/// have names.
///
/// It supports the whole format language, `OR` and `LIKE` included; values that cannot be compared
/// do not match. `NOT` with an ordering operator is the opposite operator, as in queries: a missing
/// value is neither below 5 nor not below 5.
struct PredicateEvaluation {
    let object: Any?
    let bindings: [String: Any]

    /// Returns whether a tree matches, or with `isNegated` whether its negation does.
    func holds(_ tree: PredicateTree, isNegated: Bool = false) -> Bool {
        switch tree {
        case .truth(let truth): truth != isNegated
        case .and(let parts):
            isNegated
                ? parts.contains { holds($0, isNegated: true) } : parts.allSatisfy { holds($0) }
        case .or(let parts, _):
            isNegated
                ? parts.allSatisfy { holds($0, isNegated: true) } : parts.contains { holds($0) }
        case .not(let part, _): holds(part, isNegated: !isNegated)
        case .comparison(let comparison): holds(comparison, isNegated: isNegated)
        }
    }

    private func holds(_ comparison: PredicateComparison, isNegated: Bool) -> Bool {
        guard isNegated, comparison.modifier == .direct else {
            return holds(comparison) != isNegated
        }
        if comparison.operator == .between {
            return !isMissing(comparison.left) && !holds(comparison)
        }
        guard let opposite = comparison.operator.oppositeOrder else { return !holds(comparison) }
        var negated = comparison
        negated.operator = opposite
        return holds(negated)
    }

    private func isMissing(_ expression: PredicateExpression) -> Bool {
        if case .null = value(of: expression) { true } else { false }
    }

    private func holds(_ comparison: PredicateComparison) -> Bool {
        if let words = searchedWords(comparison) { return words }
        let comparing = PredicateComparing(
            record: object as? CKRecord,
            key: comparison.left.key ?? comparison.right.key,
            options: comparison.options
        )
        var left = value(of: comparison.left)
        var right = value(of: comparison.right)
        if comparison.left.key != nil { right = right.fitting(left) }
        if comparison.right.key != nil { left = left.fitting(right) }
        if comparison.left.isDistance { return isNear(left, comparison.operator, right) }
        guard comparison.modifier != .direct else {
            return comparing.holds(comparison.operator, left, right)
        }
        guard case .field(.list(let members)) = left else { return false }
        // ANY list CONTAINS x searches for a member, as a query does, not for a part of its text.
        let operation = comparison.operator == .contains ? .equals : comparison.operator
        let matches = members.lazy.map { comparing.holds(operation, .field($0), right) }
        return switch comparison.modifier {
        case .all: matches.allSatisfy { $0 }
        case .none: !matches.contains(true)
        default: matches.contains(true)
        }
    }

    /// Returns whether a distance is within a radius: the service does not distinguish `<` and
    /// `<=`, except that nothing is nearer than the location itself.
    private func isNear(
        _ distance: PredicateValue,
        _ comparison: PredicateComparison.Operator,
        _ radius: PredicateValue
    ) -> Bool {
        let comparing = PredicateComparing(record: nil, key: nil)
        guard comparison == .lessThan,
            comparing.holds(.greaterThan, radius, .field(.int64(0)))
        else { return comparing.holds(comparison, distance, radius) }
        return comparing.holds(.lessThanOrEquals, distance, radius)
    }

    // MARK: Words

    /// Returns whether a search for words matches the record; nil if this is not one.
    private func searchedWords(_ comparison: PredicateComparison) -> Bool? {
        guard let record = object as? CKRecord else { return nil }
        let isAny: Bool
        switch (comparison.left, comparison.operator) {
        case (.object, .contains): isAny = true
        case (.object, .tokenMatches), (.key("allTokens", _), .tokenMatches): isAny = false
        default: return nil
        }
        return PredicateComparing(record: record, key: nil).holdsWords(
            of: record.searchedTexts,
            value(of: comparison.right),
            any: isAny
        )
    }

    // MARK: Values

    private func value(of expression: PredicateExpression) -> PredicateValue {
        switch expression {
        case .value(let value, _): value
        case .key(let key, _): value(forKey: key) ?? .null
        case .object: PredicateValue(argument: object)
        case .variable(let name, _): PredicateValue(argument: bindings[name])
        case .list(let elements, _):
            .field(.list(elements.compactMap { value(of: $0).field }))
        case .function(let name, let arguments, _): value(of: name, arguments.map(value(of:)))
        }
    }

    private func value(of function: String, _ arguments: [PredicateValue]) -> PredicateValue {
        switch (function, arguments.first, arguments.last) {
        case ("now", nil, _): .field(.date(Date()))
        case (
            "distanceToLocation:fromLocation:", .field(.location(let a)), .field(.location(let b))
        ) where arguments.count == 2:
            .field(.double(a.queryDistance(to: b)))
        case ("tokenize:using:", let text?, _): text
        case ("CAST", .field(.double(let seconds)), .field(.string("NSDate")))
        where arguments.count == 2:
            .field(.date(Date(timeIntervalSinceReferenceDate: seconds)))
        case ("CAST", .field(.int64(let seconds)), .field(.string("NSDate")))
        where arguments.count == 2:
            .field(.date(Date(timeIntervalSinceReferenceDate: Double(seconds))))
        default: .unusable("the function \(function)")
        }
    }

    /// Returns the object's member for a key with dots; nil if there is none.
    func value(forKey key: String) -> PredicateValue? {
        var object = object
        for name in key.split(separator: ".") {
            guard let next = Self.member(String(name), of: object) else { return nil }
            object = next
        }
        guard let object else { return nil }
        if case .null = PredicateValue(argument: object) { return nil }
        return PredicateValue(argument: object)
    }

    private static func member(_ name: String, of object: Any?) -> Any? {
        switch object {
        case let record as CKRecord: record.predicateValue(forKey: name)
        case let dictionary as [String: Any]: dictionary[name]
        case .some(let object): mirrored(name, Mirror(reflecting: object))
        case nil: nil
        }
    }

    /// Returns a stored property, in place of key-value coding for other types.
    private static func mirrored(_ name: String, _ mirror: Mirror) -> Any? {
        if let child = mirror.children.first(where: { $0.label == name }) {
            let value = Mirror(reflecting: child.value)
            return value.displayStyle == .optional ? value.children.first?.value : child.value
        }
        return mirror.superclassMirror.flatMap { mirrored(name, $0) }
    }
}

extension CKRecord {
    /// Returns a field or system field under any of its names in predicates.
    fileprivate func predicateValue(forKey key: String) -> Any? {
        switch SystemField(key: key) {
        case .recordName: recordID
        case .createdUserRecordName: creatorUserRecordID
        case .modifiedUserRecordName: lastModifiedUserRecordID
        case .createdTimestamp: creationDate
        case .modifiedTimestamp: modificationDate
        case .parent: parent
        case .share: share
        case nil: key == "allTokens" ? allTokens() : plain[key]?.object
        }
    }
}

extension CKRecord {
    /// The texts that a search for words covers.
    fileprivate var searchedTexts: [String] {
        plain.allKeys.flatMap { key -> [String] in
            switch plain[key] {
            case .string(let text): [text]
            case .list(let members):
                members.compactMap { if case .string(let text) = $0 { text } else { nil } }
            default: []
            }
        }
    }
}

extension CLLocation {
    /// Returns the distance to another location in metres, by the formula of the service.
    func queryDistance(to other: CLLocation) -> Double {
        WireLocation(latitude: coordinate.latitude, longitude: coordinate.longitude).distance(
            to: WireLocation(
                latitude: other.coordinate.latitude,
                longitude: other.coordinate.longitude
            )
        )
    }
}

extension PredicateExpression {
    /// The key; nil for other expressions.
    fileprivate var key: String? { if case .key(let key, _) = self { key } else { nil } }

    fileprivate var isDistance: Bool {
        if case .function("distanceToLocation:fromLocation:", _, _) = self { true } else { false }
    }
}

extension PredicateValue {
    /// Returns a constant as the service compares it with a field: integers with fractions as
    /// fractions.
    fileprivate func fitting(_ field: PredicateValue) -> PredicateValue {
        guard case .field(let constant) = self, case .field(let value) = field else { return self }
        let isFraction =
            switch value {
            case .double: true
            case .list(let members):
                members.contains { if case .double = $0 { true } else { false } }
            default: false
            }
        return isFraction ? .field(constant.asFraction) : self
    }
}

extension FieldValue {
    fileprivate var asFraction: FieldValue {
        switch self {
        case .int64(let integer): .double(Double(integer))
        case .list(let members): .list(members.map(\.asFraction))
        default: self
        }
    }
}

extension PredicateComparison.Operator {
    /// The ordering operator that matches where this one does not; nil for others.
    fileprivate var oppositeOrder: Self? {
        switch self {
        case .lessThan: .greaterThanOrEquals
        case .lessThanOrEquals: .greaterThan
        case .greaterThan: .lessThanOrEquals
        case .greaterThanOrEquals: .lessThan
        default: nil
        }
    }
}
