/// The response of `records/modify`, `records/lookup` and `records/query`.
public struct RecordsResponse: Hashable, Sendable, Codable {
    /// The records: in request order for modify and lookup, in sort order for query.
    public var records: [ItemResult<WireRecord>]
    /// The position of a query's next page; absent on the last page.
    public var continuationMarker: String?
    /// The zone's newest change token, if it was requested.
    public var syncToken: String?

    /// Creates a response.
    public init(
        records: [ItemResult<WireRecord>],
        continuationMarker: String? = nil,
        syncToken: String? = nil
    ) {
        self.records = records
        self.continuationMarker = continuationMarker
        self.syncToken = syncToken
    }

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case records, continuationMarker, syncToken
    }

    /// Creates a response by decoding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        records = try container.decodeItems(WireRecord.self, forKey: .records)
        continuationMarker = try container.decodeIfPresent(String.self, forKey: .continuationMarker)
        syncToken = try container.decodeIfPresent(String.self, forKey: .syncToken)
    }

    /// Encodes a response.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeItems(records, forKey: .records)
        try container.encodeIfPresent(continuationMarker, forKey: .continuationMarker)
        try container.encodeIfPresent(syncToken, forKey: .syncToken)
    }
}
