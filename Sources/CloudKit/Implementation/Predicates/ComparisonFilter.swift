import CloudKitWire
import CoreLocation
import Foundation

/// An alias, because Foundation has a `Comparator` too.
typealias WireComparator = CloudKitWire.Comparator

/// One comparison of a predicate as filters: one, or two for `BETWEEN`.
struct ComparisonFilter {
    private(set) var filters: [WireFilter] = []
    private(set) var matchesNothing = false

    let comparison: PredicateComparison
    private let owners: OwnerMapping
    private let home: CKRecordZone.ID?

    init(_ comparison: PredicateComparison, owners: OwnerMapping, home: CKRecordZone.ID?) {
        self.comparison = comparison
        self.owners = owners
        self.home = home
    }

    private func refusal(_ message: String, at position: Int? = nil) -> PredicateError {
        PredicateError(message, at: position ?? comparison.position)
    }

    mutating func translate() throws(PredicateError) {
        switch comparison.modifier {
        case .all, .none: throw refusal("CloudKit supports neither ALL nor NONE; use ANY and NOT")
        case .any: try translateAny()
        case .direct: try translateDirect()
        }
        try checkOptions()
    }

    /// Checks the options: word searches ignore case with and without options; all other
    /// comparisons are exact, and an option would be lost.
    private func checkOptions() throws(PredicateError) {
        let isOnWords = filters.allSatisfy {
            $0.comparator == .containsAnyTokens || $0.comparator == .containsAllTokens
        }
        guard comparison.options.isEmpty || isOnWords else {
            throw refusal(
                "CloudKit supports [\(String(comparison.options.sorted()))] in searches for words only"
            )
        }
    }

    // MARK: Negation

    var unnegatable: PredicateError {
        refusal("CloudKit cannot negate BETWEEN, distances and searches for words")
    }

    mutating func replace(comparator: WireComparator) {
        filters[0].comparator = comparator
    }

    /// Negates a comparison that matches nothing.
    mutating func everything() {
        matchesNothing = false
    }

    // MARK: Members of lists

    private mutating func translateAny() throws(PredicateError) {
        switch (comparison.left, comparison.operator, comparison.right) {
        case (.key(let key, let position), .equals, let value),
            (.key(let key, let position), .contains, let value):
            try add(key, position, .listContains, value)
        case (.key(let key, let position), .in, let values):
            try add(key, position, .listContainsAny, values)
        case (.key(let key, let position), .beginsWith, let value):
            try add(key, position, .listMemberBeginsWith, value)
        case (let values, .equals, .key(let key, let position)):
            try add(key, position, .in, values)
        default:
            throw refusal("With ANY, CloudKit knows ==, IN, CONTAINS and BEGINSWITH only")
        }
    }

    // MARK: Whole values

    private mutating func translateDirect() throws(PredicateError) {
        switch (comparison.left, comparison.operator, comparison.right) {
        case (.object, .contains, let words): try addTokens(.containsAnyTokens, words)
        case (.object, .tokenMatches, let words),
            (.key("allTokens", _), .tokenMatches, let words):
            try addTokens(.containsAllTokens, words)
        case (.function("distanceToLocation:fromLocation:", let arguments, _), _, let radius):
            try addDistance(arguments, radius)
        case (.key(let key, let position), .between, let bounds):
            try addBounds(key, position, bounds)
        case (let value, .in, .key(let key, let position)):
            try add(key, position, .listContains, value)
        case (.key(let key, let position), let comparison, let value):
            try add(key, position, try Self.comparator(comparison, at: self.comparison), value)
        case (let value, let comparison, .key(let key, let position)):
            try add(
                key,
                position,
                try Self.comparator(comparison.mirrored, at: self.comparison),
                value
            )
        default:
            throw refusal("One side of the comparison must be the key of a field")
        }
    }

    private static func comparator(
        _ operation: PredicateComparison.Operator,
        at comparison: PredicateComparison
    ) throws(PredicateError) -> WireComparator {
        switch operation {
        case .equals: .equals
        case .notEquals: .notEquals
        case .lessThan: .lessThan
        case .lessThanOrEquals: .lessThanOrEquals
        case .greaterThan: .greaterThan
        case .greaterThanOrEquals: .greaterThanOrEquals
        case .beginsWith: .beginsWith
        case .contains: .listContains
        case .in: .in
        case .between, .endsWith, .like, .matches, .tokenMatches:
            throw PredicateError(
                "CloudKit does not support \(operation.rawValue) here; for text it supports BEGINSWITH, "
                    + "and self CONTAINS for words",
                at: comparison.position
            )
        }
    }

    private mutating func addBounds(
        _ key: String,
        _ position: Int,
        _ bounds: PredicateExpression
    ) throws(PredicateError) {
        let value = try wire(bounds)
        guard case .list(let values, _) = value, values.count == 2 else {
            throw refusal("BETWEEN takes a list of two values", at: bounds.position)
        }
        try add(key, position, .greaterThanOrEquals, values[0])
        try add(key, position, .lessThanOrEquals, values[1])
    }

    private mutating func addDistance(
        _ arguments: [PredicateExpression],
        _ radius: PredicateExpression
    ) throws(PredicateError) {
        guard [.lessThan, .lessThanOrEquals].contains(comparison.operator) else {
            throw refusal("CloudKit matches locations nearer than a distance; use < or <=")
        }
        guard arguments.count == 2, case .key(let key, let position) = arguments[0],
            case .location(let centre) = try wire(arguments[1])
        else {
            throw refusal(
                "distanceToLocation:fromLocation: takes the key of a field and a CLLocation",
                at: comparison.left.position
            )
        }
        let metres: Double
        switch try wire(radius) {
        case .double(let double): metres = double
        case .int64(let integer): metres = Double(integer)
        default: throw refusal("A distance must be a number of metres", at: radius.position)
        }
        try check(key, position)
        guard metres.isFinite else {
            throw refusal("A distance must be a finite number of metres", at: radius.position)
        }
        // Nothing is nearer than the location itself.
        if metres < 0 || metres == 0 && comparison.operator == .lessThan {
            matchesNothing = true
            return
        }
        filters.append(WireFilter(key, .near, .location(centre), distance: metres))
    }

    /// Adds a search for words in all text fields, which names no field.
    private mutating func addTokens(
        _ comparator: WireComparator,
        _ words: PredicateExpression
    ) throws(PredicateError) {
        guard case .string(let text) = try wire(words) else {
            throw refusal("A search for words requires a text", at: words.position)
        }
        var filter = WireFilter("", comparator, .string(text))
        filter.fieldName = nil
        filters.append(filter)
    }

    // MARK: Fields

    private mutating func add(
        _ key: String,
        _ position: Int,
        _ comparator: WireComparator,
        _ expression: PredicateExpression
    ) throws(PredicateError) {
        let value = try wire(expression)
        let isList = if case .list = value { true } else { false }
        switch comparator {
        case .in, .listContainsAny:
            guard isList else {
                throw refusal("IN takes a list of values", at: expression.position)
            }
            if case .list([], _) = value {
                matchesNothing = true
                return
            }
        default:
            guard !isList else {
                throw refusal("A list is allowed here only after IN", at: expression.position)
            }
        }
        if comparator == .beginsWith || comparator == .listMemberBeginsWith {
            guard case .string = value else {
                throw refusal("BEGINSWITH takes a text", at: expression.position)
            }
        }
        try add(key, position, comparator, value)
    }

    private mutating func add(
        _ key: String,
        _ position: Int,
        _ comparator: WireComparator,
        _ value: WireValue
    ) throws(PredicateError) {
        if let field = SystemField(key: key) {
            filters.append(WireFilter(field, comparator, field.expects(value, owners)))
        } else {
            try check(key, position)
            filters.append(WireFilter(key, comparator, value))
        }
    }

    private func check(_ key: String, _ position: Int) throws(PredicateError) {
        let isName = key.utf8.allSatisfy {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
                || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "_")
        }
        guard isName, let first = key.first, first.isLetter else {
            throw refusal(
                "\"\(key)\" is not a field name: a letter, then letters, digits and _; CloudKit "
                    + "does not support key paths",
                at: position
            )
        }
    }

    // MARK: Values

    private func wire(_ expression: PredicateExpression) throws(PredicateError) -> WireValue {
        let position = expression.position
        switch expression {
        case .value(let value, _): return try wire(value, at: position)
        case .list(let elements, _):
            var values: [FieldValue] = []
            for case .value(let value, let position) in elements {
                guard let field = value.field else {
                    throw refusal("A list must hold values of one type", at: position)
                }
                values.append(field)
            }
            guard values.count == elements.count else {
                throw refusal("A list may hold only constants", at: position)
            }
            return try wire(.field(.list(values)), at: position)
        case .function("now", let arguments, _):
            guard arguments.isEmpty else { throw refusal("now() takes no argument", at: position) }
            return try wire(.field(.date(Date())), at: position)
        case .function("tokenize:using:", let arguments, _) where !arguments.isEmpty:
            return try wire(arguments[0])
        case .function(let name, _, _):
            throw refusal("CloudKit does not support the function \(name) here", at: position)
        case .key, .object: throw refusal("CloudKit compares a field with a value", at: position)
        case .variable(let name, _):
            throw refusal("The variable $\(name) has no value", at: position)
        }
    }

    private func wire(
        _ value: PredicateValue,
        at position: Int
    ) throws(PredicateError) -> WireValue {
        switch value {
        case .null: throw refusal("CloudKit cannot search for nil", at: position)
        case .unusable(let type):
            throw refusal("\(type) is not a value that CloudKit can compare with", at: position)
        case .field, .recordID:
            guard let field = value.field else {
                throw refusal("A value is missing", at: position)
            }
            do {
                return try field.wire(owners: owners, home: home) { _ throws(UnsendableValue) in
                    throw UnsendableValue(reason: "assets cannot be searched for")
                }
            } catch {
                throw refusal(error.reason, at: position)
            }
        }
    }
}

extension PredicateComparison.Operator {
    /// The equivalent operator with the sides exchanged.
    fileprivate var mirrored: Self {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEquals: .greaterThanOrEquals
        case .greaterThan: .lessThan
        case .greaterThanOrEquals: .lessThanOrEquals
        case .contains: .in
        case .equals, .notEquals: self
        default: .like
        }
    }
}

extension SystemField {
    /// Returns the value that the service expects: a reference where a text names a record.
    fileprivate func expects(_ value: WireValue, _ owners: OwnerMapping) -> WireValue {
        switch value {
        case .string(let name) where type == .reference:
            .reference(
                WireReference(
                    recordName: owners.wire(recordName: name),
                    zoneID: nil,
                    action: WireReference.Action.none
                )
            )
        case .list(let values, of: .string) where type == .reference:
            .list(values.map { expects($0, owners) }, of: .reference)
        default: value
        }
    }
}
