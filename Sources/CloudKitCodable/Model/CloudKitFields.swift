/// The storage of a model's properties that differ from the default, by coding key.
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

    /// The entries in their written order.
    let entries: [(key: String, field: CloudKitField)]

    /// The empty table, for models that use the defaults.
    static let nothing: CloudKitFields = [:]

    /// Creates the table; of two entries for one key, the later one counts.
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

    /// The storage of a key's property; nil for the default.
    public subscript(key: any CodingKey) -> CloudKitField? { byKey[key.stringValue] }
}
