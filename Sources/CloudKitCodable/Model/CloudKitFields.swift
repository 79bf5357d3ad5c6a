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

    /// The entries in the order in which they were written.
    let entries: [(key: String, field: CloudKitField)]

    /// The table of models of which nothing is special.
    static let nothing: CloudKitFields = [:]

    /// Makes the table; of two entries for one key the later holds.
    public init(dictionaryLiteral elements: (any CodingKey, CloudKitField)...) {
        let byKey = Dictionary(
            elements.map { ($0.0.stringValue, $0.1) },
            uniquingKeysWith: { _, later in later }
        )
        var seen: Set<String> = []
        entries = elements.compactMap { key, _ in
            let key = key.stringValue
            return seen.insert(key).inserted ? byKey[key].map { (key, $0) } : nil
        }
        self.byKey = byKey
    }

    /// What is special about the property of a key; nil when nothing is.
    public subscript(key: any CodingKey) -> CloudKitField? { byKey[key.stringValue] }
}
