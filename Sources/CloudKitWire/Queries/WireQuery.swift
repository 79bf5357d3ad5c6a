/// A query: a record type, filters that must all match, and a sort order.
public struct WireQuery: Hashable, Sendable, Codable {
    /// The type of the records.
    public var recordType: String
    /// The filters, which must all match.
    public var filterBy: [WireFilter]
    /// The sort order, most significant first.
    public var sortBy: [WireSort]

    /// Creates a query.
    public init(recordType: String, filterBy: [WireFilter] = [], sortBy: [WireSort] = []) {
        self.recordType = recordType
        self.filterBy = filterBy
        self.sortBy = sortBy
    }

    private enum CodingKeys: CodingKey {
        case recordType, filterBy, sortBy
    }

    /// Creates a query by decoding; a single filter or sort may come without its array (observed in
    /// clients).
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        recordType = try container.decode(String.self, forKey: .recordType)
        filterBy = try container.decodeOneOrMore(WireFilter.self, forKey: .filterBy)
        sortBy = try container.decodeOneOrMore(WireSort.self, forKey: .sortBy)
    }
}

extension KeyedDecodingContainer {
    fileprivate func decodeOneOrMore<Element: Decodable>(
        _ type: Element.Type,
        forKey key: Key
    ) throws -> [Element] {
        guard contains(key), try !decodeNil(forKey: key) else { return [] }
        // This only tests the form: anything but a list is decoded as one element, which throws.
        if (try? nestedUnkeyedContainer(forKey: key)) != nil {
            return try decode([Element].self, forKey: key)
        }
        return [try decode(Element.self, forKey: key)]
    }
}

/// One condition of a query.
public struct WireFilter: Hashable, Sendable, Codable {
    /// The comparison of the field with the value.
    public var comparator: Comparator
    /// The field; either this or `systemFieldName`.
    public var fieldName: String?
    /// The system field; either this or `fieldName`.
    public var systemFieldName: String?
    /// The value to compare the field with.
    public var fieldValue: WireField?
    /// The distance in metres, with `near`.
    public var distance: Double?

    /// Creates a condition on one of the record's own fields.
    public init(
        _ fieldName: String,
        _ comparator: Comparator,
        _ fieldValue: WireValue,
        distance: Double? = nil
    ) {
        self.comparator = comparator
        self.fieldName = fieldName
        self.fieldValue = WireField(fieldValue)
        self.distance = distance
    }

    /// Creates a condition on a system field.
    public init(_ field: SystemField, _ comparator: Comparator, _ fieldValue: WireValue) {
        self.comparator = comparator
        systemFieldName = field.rawValue
        self.fieldValue = WireField(fieldValue)
    }
}

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

/// The body of `records/query`.
public struct QueryRecordsRequest: Hashable, Sendable, Codable {
    /// The query.
    public var query: WireQuery
    /// The zone to search; nil for the default zone, or all of them with `zoneWide`.
    public var zoneID: WireZoneID?
    /// A Boolean value that indicates whether all zones are searched; ignored when `zoneID` is
    /// given.
    public var zoneWide: Bool?
    /// The maximum number of records in a page, at most 200.
    public var resultsLimit: Int?
    /// The fields to return; nil for all, empty for none.
    public var desiredKeys: [String]?
    /// The marker that the previous page ended with; the query must be the same.
    public var continuationMarker: String?
    /// A Boolean value that indicates whether the response has INT64 and DOUBLE values as strings.
    public var numbersAsStrings: Bool?

    /// Creates a request for the first page.
    public init(
        query: WireQuery,
        zoneID: WireZoneID? = nil,
        zoneWide: Bool? = nil,
        resultsLimit: Int? = nil,
        desiredKeys: [String]? = nil,
        continuationMarker: String? = nil
    ) {
        self.query = query
        self.zoneID = zoneID
        self.zoneWide = zoneWide
        self.resultsLimit = resultsLimit
        self.desiredKeys = desiredKeys
        self.continuationMarker = continuationMarker
    }
}
