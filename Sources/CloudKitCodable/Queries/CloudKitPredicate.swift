public import CloudKit

/// A condition for records of a model, composed of key paths and values.
///
/// ```swift
/// \.title == "Milk" && \.count > 3 && .field(\.tags, contains: "shop")
/// ```
///
/// It supports the conditions of CloudKit's queries: comparisons, `&&`, and `!` before a comparison.
/// There is no `||`; create a query for each side.
public struct CloudKitPredicate<Model: CloudKitMappedModel>: Sendable {
    /// The effect of a `!` before the condition.
    enum Negation: Sendable {
        case possible
        case impossible(String)
    }

    /// A condition as a format with its arguments.
    struct Condition: Sendable {
        var format: String
        var arguments: [any Sendable]
        var negation = Negation.possible
    }

    let condition: Result<Condition, CloudKitQueryError>

    init(_ condition: Result<Condition, CloudKitQueryError>) {
        self.condition = condition
    }

    init(_ format: String, _ arguments: [any Sendable] = [], _ negation: Negation = .possible) {
        condition = .success(Condition(format: format, arguments: arguments, negation: negation))
    }

    /// Holds for all records.
    public static var everything: Self { Self("TRUEPREDICATE") }

    /// Holds for no record.
    public static var nothing: Self { Self("FALSEPREDICATE") }

    /// Returns the condition as a predicate, for queries and for subscriptions.
    ///
    /// - Throws: ``CloudKitQueryError`` for a property that CloudKit cannot search, and for a
    ///   condition that it does not support.
    public func predicate() throws(CloudKitQueryError) -> NSPredicate {
        let condition = try condition.get()
        return NSPredicate(format: condition.format, argumentArray: condition.arguments)
    }

    // MARK: Compounds

    /// Holds where both conditions hold.
    public static func && (left: Self, right: Self) -> Self {
        Self(
            left.condition.flatMap { left in
                right.condition.map { right in
                    Condition(
                        format: "\(left.format) AND \(right.format)",
                        arguments: left.arguments + right.arguments,
                        negation: .impossible("conditions that are joined; negate each of them")
                    )
                }
            }
        )
    }

    /// Holds where a comparison does not hold.
    public static prefix func ! (negated: Self) -> Self {
        Self(
            negated.condition.flatMap { condition in
                switch condition.negation {
                case .possible:
                    .success(
                        Condition(
                            format: "NOT (\(condition.format))",
                            arguments: condition.arguments,
                            negation: .impossible("a negation")
                        )
                    )
                case .impossible(let what):
                    .failure(
                        CloudKitQueryError(Model.recordType, nil, "CloudKit cannot negate \(what)")
                    )
                }
            }
        )
    }

    /// Unavailable, because CloudKit has no such condition.
    @available(*, unavailable, message: "CloudKit has no OR; create a query for each side")
    public static func || (left: Self, right: Self) -> Self { left }

    // MARK: Comparisons

    /// Returns a comparison of a field with a value.
    static func comparing<Value>(
        _ key: Result<CloudKitFieldKey<Model, Value>, CloudKitQueryError>,
        _ format: String,
        _ negation: Negation = .possible,
        with values: (any Sendable)?...
    ) -> Self {
        Self(
            Result { () throws(CloudKitQueryError) in
                let key = try key.get()
                let name = try key.searchable(for: .comparison)
                let arguments = values.compactMap(\.self)
                guard arguments.count == values.count else {
                    throw CloudKitQueryError(
                        Model.recordType,
                        key.property,
                        "a field cannot hold the value that it is compared with"
                    )
                }
                return Condition(format: format, arguments: [name] + arguments, negation: negation)
            }
        )
    }

    /// Returns a list of values; nil when a field cannot hold one of them.
    static func list(_ values: [(any Sendable)?]) -> (any Sendable)? {
        let present = values.compactMap(\.self)
        return present.count == values.count ? present : nil
    }

    /// Returns the key of the property that a key path leads to.
    static func key<Value>(
        _ property: KeyPath<Model, Value>
    ) -> Result<CloudKitFieldKey<Model, Value>, CloudKitQueryError> {
        Result { () throws(CloudKitQueryError) in try CloudKitFieldKey.found(property) }
    }
}

// Searches for words, in all text fields that have a searchable index.
extension CloudKitPredicate {
    /// Holds where one of the words is in a text of the record.
    public static func anyWord(of text: String) -> Self {
        words(in: text) { _ in ("self CONTAINS %@", [text]) }
    }

    /// Holds where all of the words are in texts of the record.
    public static func allWords(of text: String) -> Self {
        words(in: text) { words in
            let format = repeatElement("self CONTAINS %@", count: words.count)
            return (format.joined(separator: " AND "), words)
        }
    }

    private static func words(
        in text: String,
        _ condition: ([String]) -> (format: String, arguments: [String])
    ) -> Self {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard !words.isEmpty else {
            return Self(
                .failure(
                    CloudKitQueryError(Model.recordType, nil, "there is no word to search for")
                )
            )
        }
        let (format, arguments) = condition(words)
        return Self(format, arguments, .impossible("a search for words"))
    }
}
