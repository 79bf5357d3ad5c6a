/// The body of `records/lookup`.
public struct LookupRecordsRequest: Hashable, Sendable, Codable {
    /// One record to look up.
    public struct Item: Hashable, Sendable, Codable {
        /// The record's name.
        public var recordName: String
        /// The fields to answer; nil for the request's.
        public var desiredKeys: [String]?

        /// Makes an item.
        public init(recordName: String, desiredKeys: [String]? = nil) {
            self.recordName = recordName
            self.desiredKeys = desiredKeys
        }
    }

    /// The records, answered in this order.
    public var records: [Item]
    /// The zone of all records; nil for the default zone.
    public var zoneID: WireZoneID?
    /// The fields to answer; nil for all.
    public var desiredKeys: [String]?
    /// Whether the answer writes INT64 and DOUBLE values as strings.
    public var numbersAsStrings: Bool?

    /// Makes a request.
    public init(
        records: [Item],
        zoneID: WireZoneID? = nil,
        desiredKeys: [String]? = nil,
        numbersAsStrings: Bool? = nil
    ) {
        self.records = records
        self.zoneID = zoneID
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }
}
