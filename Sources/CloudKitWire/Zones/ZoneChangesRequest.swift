/// The body of `changes/zone`.
public struct ZoneChangesRequest: Hashable, Sendable, Codable {
    /// The request for one zone; nil members fall back to the request's values.
    public struct Zone: Hashable, Sendable, Codable {
        /// The zone.
        public var zoneID: WireZoneID
        /// The token of the previous response; nil for everything.
        public var syncToken: String?
        /// The maximum number of records in a page, at most 200.
        public var resultsLimit: Int?
        /// The fields to return; nil for all.
        public var desiredKeys: [String]?
        /// The record types to return; nil for all.
        public var desiredRecordTypes: [String]?
        /// A Boolean value that indicates whether the newest change comes first.
        public var reverse: Bool?
        /// A Boolean value that indicates whether the response has numbers as strings.
        public var numbersAsStrings: Bool?

        /// Creates a request for one zone.
        public init(
            zoneID: WireZoneID,
            syncToken: String? = nil,
            resultsLimit: Int? = nil,
            desiredKeys: [String]? = nil
        ) {
            self.zoneID = zoneID
            self.syncToken = syncToken
            self.resultsLimit = resultsLimit
            self.desiredKeys = desiredKeys
        }
    }

    /// The zones; the response has the same order.
    public var zones: [Zone]
    /// The maximum number of records in a page, for zones without their own.
    public var resultsLimit: Int?
    /// The fields to return, for zones without their own.
    public var desiredKeys: [String]?
    /// The record types to return, for zones without their own.
    public var desiredRecordTypes: [String]?
    /// A Boolean value that indicates whether the newest change comes first, for zones without
    /// their own.
    public var reverse: Bool?
    /// A Boolean value that indicates whether the response has INT64 and DOUBLE values as strings.
    public var numbersAsStrings: Bool?
    /// The same value under the name in Apple's documentation; read, never sent.
    public var numberAsStrings: Bool?

    /// Creates a request.
    public init(zones: [Zone]) {
        self.zones = zones
    }
}

/// The response of `changes/zone`.
public struct ZoneChangesResponse: Hashable, Sendable, Codable {
    /// The changes of one zone: each changed record once, in its current version.
    public struct Zone: Hashable, Sendable, Codable {
        /// The zone.
        public var zoneID: WireZoneID
        /// Changed records and tombstones.
        public var records: [ItemResult<WireRecord>]
        /// The token of the next request.
        public var syncToken: String
        /// A Boolean value that indicates whether there are more changes; nil means no.
        public var moreComing: Bool?

        /// Creates a response for one zone.
        public init(
            zoneID: WireZoneID,
            records: [ItemResult<WireRecord>],
            syncToken: String,
            moreComing: Bool
        ) {
            self.zoneID = zoneID
            self.records = records
            self.syncToken = syncToken
            self.moreComing = moreComing
        }

        /// The keys, for coders, readers and writers.
        package enum CodingKeys: CodingKey {
            case zoneID, records, syncToken, moreComing
        }

        /// Creates a response for one zone by decoding.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            zoneID = try container.decode(WireZoneID.self, forKey: .zoneID)
            records = try container.decodeItems(WireRecord.self, forKey: .records)
            syncToken = try container.decode(String.self, forKey: .syncToken)
            moreComing = try container.decodeIfPresent(Bool.self, forKey: .moreComing)
        }

        /// Encodes a response for one zone.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(zoneID, forKey: .zoneID)
            try container.encodeItems(records, forKey: .records)
            try container.encode(syncToken, forKey: .syncToken)
            try container.encode(moreComing ?? false, forKey: .moreComing)
        }
    }

    /// The zones in request order.
    public var zones: [ItemResult<Zone>]

    /// Creates a response.
    public init(zones: [ItemResult<Zone>]) {
        self.zones = zones
    }

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case zones
    }

    /// Creates a response by decoding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        zones = try container.decodeItems(Zone.self, forKey: .zones)
    }

    /// Encodes a response.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeItems(zones, forKey: .zones)
    }
}
