/// What a query asks for: a type, filters that must all hold, and an order.
public struct WireQuery: Hashable, Sendable, Codable {
    /// The type of the records.
    public var recordType: String
    /// The filters; all must hold.
    public var filterBy: [WireFilter]
    /// The order, most significant first.
    public var sortBy: [WireSort]

    /// Makes a query.
    public init(recordType: String, filterBy: [WireFilter] = [], sortBy: [WireSort] = []) {
        self.recordType = recordType
        self.filterBy = filterBy
        self.sortBy = sortBy
    }

    private enum CodingKeys: CodingKey {
        case recordType, filterBy, sortBy
    }

    /// Reads a query; a single filter or sort may stand without its array (observed in clients).
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
        // A question of form only: what is no list is decoded as one element, which throws.
        if (try? nestedUnkeyedContainer(forKey: key)) != nil {
            return try decode([Element].self, forKey: key)
        }
        return [try decode(Element.self, forKey: key)]
    }
}
