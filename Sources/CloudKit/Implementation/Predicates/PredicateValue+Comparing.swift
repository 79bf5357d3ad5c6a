import CoreLocation
import Foundation

extension PredicateValue {
    /// Whether an operator holds between two values; false where they cannot be compared.
    func compares(
        _ comparison: PredicateComparison.Operator,
        _ other: PredicateValue,
        options: Set<Character>
    ) -> Bool {
        switch comparison {
        case .equals: equals(other, options)
        case .notEquals: !equals(other, options)
        case .lessThan: order(with: other, options: options) == .orderedAscending
        case .lessThanOrEquals:
            [.orderedAscending, .orderedSame].contains(order(with: other, options: options))
        case .greaterThan: order(with: other, options: options) == .orderedDescending
        case .greaterThanOrEquals:
            [.orderedDescending, .orderedSame].contains(order(with: other, options: options))
        case .between: isBetween(other, options)
        case .in: other.contains(self, options)
        case .contains: contains(other, options)
        case .beginsWith: texts(other, options) { $0.hasPrefix($1) }
        case .endsWith: texts(other, options) { $0.hasSuffix($1) }
        case .like: texts(other, options) { $0.matches(Self.pattern(like: $1)) }
        case .matches: texts(other, options) { $0.matches($1) }
        case .tokenMatches: hasTokens(other)
        }
    }

    private func equals(_ other: PredicateValue, _ options: Set<Character>) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.null, _), (_, .null), (.unusable, _), (_, .unusable): false
        default:
            if let left = recordID, let right = other.recordID {
                left.isEqual(right)
            } else if let left = recordID, case .field(.string(let name)) = other {
                // As in queries, a record's name stands for its identity.
                left.recordName == name
            } else if case .field(.list(let left)) = self, case .field(.list(let right)) = other {
                left.count == right.count
                    && zip(left, right).allSatisfy {
                        PredicateValue.field($0).equals(.field($1), options)
                    }
            } else {
                order(with: other, options: options).map { $0 == .orderedSame }
                    ?? (field == other.field)
            }
        }
    }

    /// References compare by their target alone.
    private var recordID: CKRecord.ID? {
        switch self {
        case .recordID(let recordID): recordID
        case .field(.reference(let reference)): reference.recordID
        default: nil
        }
    }

    /// How two values are ordered; nil where they are not.
    func order(with other: PredicateValue, options: Set<Character>) -> ComparisonResult? {
        guard let left = field, let right = other.field else { return nil }
        switch (left, right) {
        case (.string(let left), .string(let right)):
            return left.folded(options).compare(right.folded(options))
        case (.date(let left), .date(let right)): return left.compare(right)
        case (.int64(let left), .int64(let right)): return Self.order(left, right)
        default:
            guard let left = left.number, let right = right.number else { return nil }
            return Self.order(left, right)
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult
    {
        left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
    }

    private func isBetween(_ bounds: PredicateValue, _ options: Set<Character>) -> Bool {
        guard case .field(.list(let bounds)) = bounds, bounds.count == 2 else { return false }
        return compares(.greaterThanOrEquals, .field(bounds[0]), options: options)
            && compares(.lessThanOrEquals, .field(bounds[1]), options: options)
    }

    private func contains(_ member: PredicateValue, _ options: Set<Character>) -> Bool {
        switch self {
        case .field(.list(let members)):
            members.contains { PredicateValue.field($0).equals(member, options) }
        default: texts(member, options) { $0.contains($1) }
        }
    }

    // MARK: Text

    private func texts(
        _ other: PredicateValue,
        _ options: Set<Character>,
        _ holds: (String, String) -> Bool
    ) -> Bool {
        guard case .field(.string(let left)) = self, case .field(.string(let right)) = other else {
            return false
        }
        return holds(left.folded(options), right.folded(options))
    }

    private func hasTokens(_ other: PredicateValue) -> Bool {
        guard case .field(.string(let wanted)) = other else { return false }
        let words = wanted.split(whereSeparator: \.isWhitespace).map { String($0).searchForm }
        let texts: [String] =
            switch self {
            case .field(.string(let text)): [text]
            case .field(.list(let members)):
                members.compactMap { if case .string(let text) = $0 { text } else { nil } }
            default: []
            }
        let present = Set(
            texts.flatMap { $0.split(whereSeparator: \.isWhitespace) }.map { String($0).searchForm }
        )
        return words.allSatisfy(present.contains)
    }

    /// `*` stands for anything and `?` for one character.
    private static func pattern(like text: String) -> String {
        NSRegularExpression.escapedPattern(for: text)
            .replacingOccurrences(of: "\\*", with: ".*")
            .replacingOccurrences(of: "\\?", with: ".")
    }
}

extension FieldValue {
    /// The value as a number; nil when it is none.
    fileprivate var number: Double? {
        switch self {
        case .int64(let integer): Double(integer)
        case .unsigned(let integer): Double(integer)
        case .double(let double): double
        default: nil
        }
    }
}

extension String {
    /// A word as searches for words compare it: without case and accents.
    var searchForm: String { folded(["c", "d"]) }

    fileprivate func folded(_ options: Set<Character>) -> String {
        var folding: String.CompareOptions = []
        if options.contains("c") { folding.insert(.caseInsensitive) }
        if options.contains("d") { folding.insert(.diacriticInsensitive) }
        return folding.isEmpty ? self : self.folding(options: folding, locale: nil)
    }

    fileprivate func matches(_ pattern: String) -> Bool {
        range(of: "^(?:\(pattern))$", options: .regularExpression) != nil
    }
}
