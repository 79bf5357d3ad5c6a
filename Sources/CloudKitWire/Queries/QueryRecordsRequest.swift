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
