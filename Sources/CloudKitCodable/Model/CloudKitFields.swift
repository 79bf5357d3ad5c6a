/// What is special about a model's properties, by coding key.
///
/// ```swift
/// static var fields: CloudKitFields {
///     [
///         CodingKeys.diagnosis: .encrypted,
///         CodingKeys.scan: .asset,
///         CodingKeys.patient: .reference(.deleteSelf),
///     ]
/// }
/// ```
public struct CloudKitFields: Sendable, ExpressibleByDictionaryLiteral {
    private(set) var byKey: [String: CloudKitField]

    /// The table of models of which nothing is special.
    static let nothing: CloudKitFields = [:]

    /// Makes the table; of two entries for one key the later holds.
    public init(dictionaryLiteral elements: (any CodingKey, CloudKitField)...) {
        byKey = Dictionary(
            elements.map { ($0.0.stringValue, $0.1) },
            uniquingKeysWith: { _, later in later }
        )
    }

    /// What is special about the property of a key; nil when nothing is.
    public subscript(key: any CodingKey) -> CloudKitField? { byKey[key.stringValue] }
}
