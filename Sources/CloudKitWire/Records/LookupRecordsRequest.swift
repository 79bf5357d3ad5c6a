/// The body of `records/lookup`.
public struct LookupRecordsRequest: Hashable, Sendable, Codable {
    /// One record to look up.
    public struct Item: Hashable, Sendable, Codable {
        /// The record's name.
        public var recordName: String
        /// The fields to return; nil for the request's.
        public var desiredKeys: [String]?

        /// The keys, for coders, readers and writers.
        package enum CodingKeys: CodingKey {
            case recordName, desiredKeys
        }

        /// Creates an item.
        public init(recordName: String, desiredKeys: [String]? = nil) {
            self.recordName = recordName
            self.desiredKeys = desiredKeys
        }
    }

    /// The records; the response has the same order.
    public var records: [Item]
    /// The zone of all records; nil for the default zone.
    public var zoneID: WireZoneID?
    /// The fields to return; nil for all.
    public var desiredKeys: [String]?
    /// A Boolean value that indicates whether the response has INT64 and DOUBLE values as strings.
    public var numbersAsStrings: Bool?

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case records, zoneID, desiredKeys, numbersAsStrings
    }

    /// Creates a request.
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
