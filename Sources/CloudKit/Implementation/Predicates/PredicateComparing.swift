import CloudKitWire
import CoreLocation
import Foundation

/// The comparison of two values by a predicate in memory, equivalent to the service's.
///
/// Text is compared by its bytes, dates by the milliseconds that the service keeps, locations by
/// their coordinates, references by their targets.
struct PredicateComparing {
    /// The letters after the operator.
    var options: Set<Character> = []
    /// The zone of the evaluated record; the default zone if it is not a record.
    private let home: CKRecordZone.ID
    /// The record name of the current user, who has another name in IDs.
    private let reader: String?
    /// `true` when the field names users, who are in no zone of the database.
    private let namesUsers: Bool

    /// Creates the comparison for a field of a record, or for a member of anything else.
    init(record: CKRecord?, key: String?, options: Set<Character> = []) {
        self.options = options
        home = record?.recordID.zoneID ?? .default
        reader = record?.system.reader
        let field = key.flatMap(SystemField.init(key:))
        namesUsers = field == .createdUserRecordName || field == .modifiedUserRecordName
    }

    /// Returns whether an operator matches two values; false if they cannot be compared.
    func holds(
        _ comparison: PredicateComparison.Operator,
        _ left: PredicateValue,
        _ right: PredicateValue
    ) -> Bool {
        switch comparison {
        case .equals: equals(left, right)
        case .notEquals: !equals(left, right)
        case .lessThan: order(left, right) == .orderedAscending
        case .lessThanOrEquals: [.orderedAscending, .orderedSame].contains(order(left, right))
        case .greaterThan: order(left, right) == .orderedDescending
        case .greaterThanOrEquals: [.orderedDescending, .orderedSame].contains(order(left, right))
        case .between: isBetween(left, right)
        case .in: contains(right, left)
        case .contains: contains(left, right)
        case .beginsWith:
            texts(left, right) { $0.utf8.starts(with: $1.utf8) }
        case .endsWith:
            texts(left, right) { $0.utf8.reversed().starts(with: $1.utf8.reversed()) }
        case .like: texts(left, right) { $0.matches(Self.pattern(like: $1)) }
        case .matches: texts(left, right) { $0.matches($1) }
        case .tokenMatches:
            left.texts.map { holdsWords(of: $0, right, any: false) } ?? false
        }
    }

    /// Returns whether texts contain the words of another: any of them, or all.
    ///
    /// Words that occur in most texts are ignored; a text with no word matches nothing.
    func holdsWords(of texts: [String], _ wanted: PredicateValue, any: Bool) -> Bool {
        guard case .field(.string(let wanted)) = wanted else { return false }
        let words = SearchWords(wanted)
        guard !words.isEmpty else { return false }
        guard !words.counting.isEmpty else { return true }
        let present = SearchWords(texts).counting
        return any
            ? !words.counting.isDisjoint(with: present) : words.counting.isSubset(of: present)
    }

    // MARK: Equality

    func equals(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case (.null, _), (_, .null), (.unusable, _), (_, .unusable): return false
        case (.field(.list(let left)), .field(.list(let right))):
            return left.count == right.count
                && zip(left, right).allSatisfy { equals(.field($0), .field($1)) }
        case (.field(.location(let left)), .field(.location(let right))):
            let (left, right) = (left.coordinate, right.coordinate)
            return left.latitude == right.latitude && left.longitude == right.longitude
        default: break
        }
        if left.recordID != nil || right.recordID != nil {
            guard let left = identity(left), let right = identity(right) else { return false }
            return left == right
        }
        return order(left, right).map { $0 == .orderedSame } ?? (left.field == right.field)
    }

    /// Returns the target of an ID, a reference or a name; nil for other values.
    private func identity(_ value: PredicateValue) -> PredicateIdentity? {
        if let recordID = value.recordID {
            return PredicateIdentity(recordID, reader: reader, zone: namesUsers ? nil : home)
        }
        guard case .field(.string(let name)) = value else { return nil }
        return PredicateIdentity(name: name, reader: reader)
    }

    private func contains(_ list: PredicateValue, _ member: PredicateValue) -> Bool {
        switch list {
        case .field(.list(let members)): members.contains { equals(.field($0), member) }
        default:
            texts(list, member) { $1.isEmpty || $0.contains($1) }
        }
    }

    // MARK: Order

    /// Returns the order of two values; nil if they have none.
    func order(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult? {
        guard let left = left.field, let right = right.field else { return nil }
        switch (left, right) {
        case (.string(let left), .string(let right)):
            return Self.order(left.folded(options).utf8, right.folded(options).utf8)
        case (.bytes(let left), .bytes(let right)): return Self.order(left, right)
        case (.date(let left), .date(let right)):
            return Self.order(left.keptMilliseconds, right.keptMilliseconds)
        default:
            guard let left = left.number, let right = right.number else { return nil }
            return left.order(with: right)
        }
    }

    /// Returns the sort order of two values: as in comparisons, but references by their targets.
    func sortOrder(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult? {
        guard left.recordID != nil, right.recordID != nil, let left = identity(left),
            let right = identity(right)
        else { return order(left, right) }
        return Self.order(left.sortKey.utf8, right.sortKey.utf8)
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult
    {
        left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
    }

    private static func order<Bytes: Sequence<UInt8>>(
        _ left: Bytes,
        _ right: Bytes
    ) -> ComparisonResult {
        if left.lexicographicallyPrecedes(right) { return .orderedAscending }
        return right.lexicographicallyPrecedes(left) ? .orderedDescending : .orderedSame
    }

    private func isBetween(_ value: PredicateValue, _ bounds: PredicateValue) -> Bool {
        guard case .field(.list(let bounds)) = bounds, bounds.count == 2 else { return false }
        return holds(.greaterThanOrEquals, value, .field(bounds[0]))
            && holds(.lessThanOrEquals, value, .field(bounds[1]))
    }

    // MARK: Text

    private func texts(
        _ left: PredicateValue,
        _ right: PredicateValue,
        _ holds: (String, String) -> Bool
    ) -> Bool {
        guard case .field(.string(let left)) = left, case .field(.string(let right)) = right else {
            return false
        }
        return holds(left.folded(options), right.folded(options))
    }

    /// Returns a pattern, in which `*` matches anything and `?` one character.
    private static func pattern(like text: String) -> String {
        NSRegularExpression.escapedPattern(for: text)
            .replacingOccurrences(of: "\\*", with: ".*")
            .replacingOccurrences(of: "\\?", with: ".")
    }
}

extension PredicateValue {
    /// The ID, or the target of a reference.
    fileprivate var recordID: CKRecord.ID? {
        switch self {
        case .recordID(let recordID): recordID
        case .field(.reference(let reference)): reference.recordID
        default: nil
        }
    }

    /// A text, or the texts of a list; nil for other values.
    fileprivate var texts: [String]? {
        switch self {
        case .field(.string(let text)): [text]
        case .field(.list(let members)):
            members.compactMap { if case .string(let text) = $0 { text } else { nil } }
        default: nil
        }
    }
}

extension FieldValue {
    /// The value as a number; nil if it is not one.
    fileprivate var number: PredicateNumber? {
        switch self {
        case .int64(let integer): .integer(Int128(integer))
        case .unsigned(let integer): .integer(Int128(integer))
        case .double(let double): .fraction(double)
        default: nil
        }
    }
}

extension Date {
    /// The milliseconds since 1970 as the service stores them: whole ones, if they fit.
    fileprivate var keptMilliseconds: Double {
        // A date beyond the range of milliseconds compares as the number that it is.
        (try? milliseconds()).map(Double.init) ?? (timeIntervalSince1970 * 1000).rounded(.down)
    }
}

extension String {
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
