/// A zone as responses describe it.
public struct WireZone: Hashable, Sendable, Codable {
    /// The zone's ID.
    public var zoneID: WireZoneID
    /// The zone's newest change token.
    public var syncToken: String?
    /// A Boolean value that indicates whether modify requests for the zone can be atomic.
    public var atomic: Bool?
    /// A Boolean value that indicates whether the zone was deleted.
    public var deleted: Bool?
    /// The reason for the deletion, unless an app deleted the zone.
    public var deletionReason: ZoneDeletionReason?
    /// The share of the zone as a whole.
    ///
    /// An extension of this package's server, in responses of `zones/…` to a request with the query
    /// parameter `zoneShares=true`.
    public var share: WireReference?

    /// Creates a description of a zone.
    public init(
        zoneID: WireZoneID,
        syncToken: String? = nil,
        atomic: Bool? = nil,
        deleted: Bool? = nil,
        deletionReason: ZoneDeletionReason? = nil,
        share: WireReference? = nil
    ) {
        self.zoneID = zoneID
        self.syncToken = syncToken
        self.atomic = atomic
        self.deleted = deleted
        self.deletionReason = deletionReason
        self.share = share
    }
}

/// The body of `zones/lookup`.
public struct LookupZonesRequest: Hashable, Sendable, Codable {
    /// The zones to look up.
    public var zones: [WireZoneID]

    /// Creates a request.
    public init(zones: [WireZoneID]) {
        self.zones = zones
    }

    private enum CodingKeys: CodingKey {
        case zones
    }

    /// Some clients wrap each ID as `{"zoneID": {…}}`; both forms are decoded.
    private struct Element: Decodable {
        let zoneID: WireZoneID

        private enum CodingKeys: CodingKey {
            case zoneID
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            zoneID =
                try container.decodeIfPresent(WireZoneID.self, forKey: .zoneID)
                ?? WireZoneID(from: decoder)
        }
    }

    /// Creates a request by decoding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        zones = try container.decode([Element].self, forKey: .zones).map(\.zoneID)
    }
}

/// The body of `zones/modify`.
public struct ModifyZonesRequest: Hashable, Sendable, Codable {
    /// One change to one zone.
    public struct Operation: Hashable, Sendable, Codable {
        /// The kinds of changes to a zone.
        public enum OperationType: String, Hashable, Sendable, Codable {
            /// Creates the zone; leaves an existing one as it is.
            case create
            /// Deletes the zone with all its records.
            case delete
        }

        /// The kind of change.
        public var operationType: OperationType
        /// The zone to change.
        public var zone: WireZone

        /// Creates an operation.
        public init(_ operationType: OperationType, _ zoneID: WireZoneID) {
            self.operationType = operationType
            zone = WireZone(zoneID: zoneID)
        }
    }

    /// The changes, at most one for a zone.
    public var operations: [Operation]

    /// Creates a request.
    public init(operations: [Operation]) {
        self.operations = operations
    }
}

/// The response of `zones/list`, `zones/lookup` and `zones/modify`.
public struct ZonesResponse: Hashable, Sendable, Codable {
    /// The zones, in the order of the request, if it had one.
    public var zones: [ItemResult<WireZone>]

    /// Creates a response.
    public init(zones: [ItemResult<WireZone>]) {
        self.zones = zones
    }

    private enum CodingKeys: CodingKey {
        case zones
    }

    /// Creates a response by decoding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        zones = try container.decodeItems(WireZone.self, forKey: .zones)
    }

    /// Encodes a response.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeItems(zones, forKey: .zones)
    }
}
