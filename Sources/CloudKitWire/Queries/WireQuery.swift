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
