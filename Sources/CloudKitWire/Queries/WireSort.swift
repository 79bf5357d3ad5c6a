/// One key of a query's sort order.
public struct WireSort: Hashable, Sendable, Codable {
    /// The field; either this or `systemFieldName`.
    public var fieldName: String?
    /// The system field; either this or `fieldName`.
    public var systemFieldName: String?
    /// A Boolean value that indicates whether small values come first; nil means yes.
    public var ascending: Bool?
    /// The location to measure distances from, for a location field.
    public var relativeLocation: WireField?

    /// Creates a key on one of the record's own fields.
    public init(_ fieldName: String, ascending: Bool = true) {
        self.fieldName = fieldName
        self.ascending = ascending
    }

    /// Creates a key on a system field.
    public init(_ field: SystemField, ascending: Bool = true) {
        systemFieldName = field.rawValue
        self.ascending = ascending
    }
}

extension WireSort {
    private enum CodingKeys: CodingKey {
        case fieldName, systemFieldName, ascending, relativeLocation
    }

    /// Creates a key by decoding; the location may come in a field with its tag, or bare, as
    /// Apple's samples send it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        fieldName = try container.decodeIfPresent(String.self, forKey: .fieldName)
        systemFieldName = try container.decodeIfPresent(String.self, forKey: .systemFieldName)
        ascending = try container.decodeIfPresent(Bool.self, forKey: .ascending)
        // A location in a field has other keys; anything else throws below.
        let place = try? container.decodeIfPresent(WireLocation.self, forKey: .relativeLocation)
        relativeLocation =
            if let place {
                WireField(.location(place))
            } else {
                try container.decodeIfPresent(WireField.self, forKey: .relativeLocation)
            }
    }
}
