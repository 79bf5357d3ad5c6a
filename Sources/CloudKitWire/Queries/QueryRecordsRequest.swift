/// The body of `records/query`.
public struct QueryRecordsRequest: Hashable, Sendable, Codable {
    /// What is asked for.
    public var query: WireQuery
    /// The zone to search; nil for the default zone, or all of them with `zoneWide`.
    public var zoneID: WireZoneID?
    /// Whether all zones are searched; ignored when `zoneID` is given.
    public var zoneWide: Bool?
    /// Records of one page, at most 200.
    public var resultsLimit: Int?
    /// The fields to answer; nil for all, empty for none.
    public var desiredKeys: [String]?
    /// Where the previous page ended; the query must be the same.
    public var continuationMarker: String?
    /// Whether the answer writes INT64 and DOUBLE values as strings.
    public var numbersAsStrings: Bool?

    /// Makes a request for the first page.
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
