/// One key of a query's order.
public struct WireSort: Hashable, Sendable, Codable {
    /// The field; either this or `systemFieldName`.
    public var fieldName: String?
    /// The field that every record has; either this or `fieldName`.
    public var systemFieldName: String?
    /// Whether small values come first; nil means yes.
    public var ascending: Bool?
    /// Where distances are measured from, for a location field.
    public var relativeLocation: WireField?

    /// Makes a key on one of the record's own fields.
    public init(_ fieldName: String, ascending: Bool = true) {
        self.fieldName = fieldName
        self.ascending = ascending
    }

    /// Makes a key on a field that every record has.
    public init(_ field: SystemField, ascending: Bool = true) {
        systemFieldName = field.rawValue
        self.ascending = ascending
    }
}

extension WireSort {
    private enum CodingKeys: CodingKey {
        case fieldName, systemFieldName, ascending, relativeLocation
    }

    /// Reads a key; the place may stand in a field with its tag, or bare, as Apple's samples send it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        fieldName = try container.decodeIfPresent(String.self, forKey: .fieldName)
        systemFieldName = try container.decodeIfPresent(String.self, forKey: .systemFieldName)
        ascending = try container.decodeIfPresent(Bool.self, forKey: .ascending)
        // A place in a field has other keys; what is neither throws below.
        let place = try? container.decodeIfPresent(WireLocation.self, forKey: .relativeLocation)
        relativeLocation =
            if let place {
                WireField(.location(place))
            } else {
                try container.decodeIfPresent(WireField.self, forKey: .relativeLocation)
            }
    }
}
