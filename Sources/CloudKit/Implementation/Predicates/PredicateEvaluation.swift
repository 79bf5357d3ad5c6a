import CloudKitWire
import CoreLocation
import Foundation

/// Whether a predicate holds for an object in memory: a record, or anything else whose members have
/// names.
///
/// All of the format language is understood, `OR` and `LIKE` included; what cannot be compared does
/// not hold.
struct PredicateEvaluation {
    let object: Any?
    let bindings: [String: Any]

    func holds(_ tree: PredicateTree) -> Bool {
        switch tree {
        case .truth(let truth): truth
        case .and(let parts): parts.allSatisfy(holds)
        case .or(let parts, _): parts.contains(where: holds)
        case .not(let part, _): !holds(part)
        case .comparison(let comparison): holds(comparison)
        }
    }

    private func holds(_ comparison: PredicateComparison) -> Bool {
        if case .object = comparison.left,
            comparison.operator == .contains || isTokenSearch(comparison)
        {
            if let record = object as? CKRecord { return hasToken(record, comparison) }
        }
        let left = value(of: comparison.left)
        let right = value(of: comparison.right)
        func compare(_ left: PredicateValue) -> Bool {
            left.compares(comparison.operator, right, options: comparison.options)
        }
        if comparison.modifier == .direct { return compare(left) }
        guard case .field(.list(let members)) = left else { return false }
        let matches = members.lazy.map { compare(.field($0)) }
        return switch comparison.modifier {
        case .all: matches.allSatisfy { $0 }
        case .none: !matches.contains(true)
        default: matches.contains(true)
        }
    }

    // MARK: Words

    private func isTokenSearch(_ comparison: PredicateComparison) -> Bool {
        comparison.operator == .tokenMatches
    }

    private func hasToken(_ record: CKRecord, _ comparison: PredicateComparison) -> Bool {
        guard case .field(.string(let wanted)) = value(of: comparison.right) else { return false }
        let present = Set(record.allTokens().map(\.searchForm))
        let words = wanted.split(whereSeparator: \.isWhitespace).map { String($0).searchForm }
        return comparison.operator == .contains
            ? words.contains(where: present.contains) : words.allSatisfy(present.contains)
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
        case ("now", _, _): .field(.date(Date()))
        case (
            "distanceToLocation:fromLocation:", .field(.location(let a)), .field(.location(let b))
        ):
            .field(.double(a.distance(from: b)))
        case ("tokenize:using:", let text?, _): text
        case ("CAST", .field(.double(let seconds)), .field(.string("NSDate"))):
            .field(.date(Date(timeIntervalSinceReferenceDate: seconds)))
        case ("CAST", .field(.int64(let seconds)), .field(.string("NSDate"))):
            .field(.date(Date(timeIntervalSinceReferenceDate: Double(seconds))))
        default: .unusable("the function \(function)")
        }
    }

    /// The member of the object behind a key with dots; nil when there is none.
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

    /// A stored property, which is what replaces key-value coding for other types.
    private static func mirrored(_ name: String, _ mirror: Mirror) -> Any? {
        if let child = mirror.children.first(where: { $0.label == name }) {
            let value = Mirror(reflecting: child.value)
            return value.displayStyle == .optional ? value.children.first?.value : child.value
        }
        return mirror.superclassMirror.flatMap { mirrored(name, $0) }
    }
}

extension CKRecord {
    /// A field or system field under the names that predicates may give it.
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
