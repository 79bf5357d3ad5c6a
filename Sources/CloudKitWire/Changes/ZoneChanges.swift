/// The body of `changes/zone`.
public struct ZoneChangesRequest: Hashable, Sendable, Codable {
    /// What is asked of one zone; nil members take the request's values.
    public struct Zone: Hashable, Sendable, Codable {
        /// The zone.
        public var zoneID: WireZoneID
        /// Where the previous answer ended; nil for everything.
        public var syncToken: String?
        /// Records of one page, at most 200.
        public var resultsLimit: Int?
        /// The fields to answer; nil for all.
        public var desiredKeys: [String]?
        /// The record types to answer; nil for all.
        public var desiredRecordTypes: [String]?
        /// Whether the newest change comes first.
        public var reverse: Bool?
        /// Whether numbers are answered as strings.
        public var numbersAsStrings: Bool?

        /// Makes a request about one zone.
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

    /// The zones, answered in this order.
    public var zones: [Zone]
    /// Records of one page for each zone that does not say.
    public var resultsLimit: Int?
    /// The fields for each zone that does not say.
    public var desiredKeys: [String]?
    /// The record types for each zone that does not say.
    public var desiredRecordTypes: [String]?
    /// Whether the newest change comes first, for each zone that does not say.
    public var reverse: Bool?
    /// Whether the answer writes INT64 and DOUBLE values as strings.
    public var numbersAsStrings: Bool?
    /// The same under the name that Apple's page has it; read, never sent.
    public var numberAsStrings: Bool?

    /// Makes a request.
    public init(zones: [Zone]) {
        self.zones = zones
    }
}

/// The answer of `changes/zone`.
public struct ZoneChangesResponse: Hashable, Sendable, Codable {
    /// The changes of one zone: each changed record once, in its latest state.
    public struct Zone: Hashable, Sendable, Codable {
        /// The zone.
        public var zoneID: WireZoneID
        /// Changed records and tombstones.
        public var records: [ItemResult<WireRecord>]
        /// Where the next request starts.
        public var syncToken: String
        /// Whether more changes wait; nil means no.
        public var moreComing: Bool?

        /// Makes an answer for one zone.
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

        private enum CodingKeys: CodingKey {
            case zoneID, records, syncToken, moreComing
        }

        /// Reads an answer for one zone.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            zoneID = try container.decode(WireZoneID.self, forKey: .zoneID)
            records = try container.decodeItems(WireRecord.self, forKey: .records)
            syncToken = try container.decode(String.self, forKey: .syncToken)
            moreComing = try container.decodeIfPresent(Bool.self, forKey: .moreComing)
        }

        /// Writes an answer for one zone.
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

    /// Makes an answer.
    public init(zones: [ItemResult<Zone>]) {
        self.zones = zones
    }

    private enum CodingKeys: CodingKey {
        case zones
    }

    /// Reads an answer.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        zones = try container.decodeItems(Zone.self, forKey: .zones)
    }

    /// Writes an answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeItems(zones, forKey: .zones)
    }
}
