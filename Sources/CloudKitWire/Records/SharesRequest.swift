/// The body of `records/resolve` and `records/accept`.
public struct SharesRequest: Hashable, Sendable, Codable {
    /// The short ID of a share, the last part of its link.
    public struct ShortGUID: Hashable, Sendable, Codable {
        /// The ID.
        public var value: String
        /// A Boolean value that indicates whether the response includes the shared record.
        public var shouldFetchRootRecord: Bool?
        /// The fields of the shared record; nil for all.
        public var rootRecordDesiredKeys: [String]?

        /// Creates a short ID.
        public init(
            value: String,
            shouldFetchRootRecord: Bool? = nil,
            rootRecordDesiredKeys: [String]? = nil
        ) {
            self.value = value
            self.shouldFetchRootRecord = shouldFetchRootRecord
            self.rootRecordDesiredKeys = rootRecordDesiredKeys
        }
    }

    /// The shares; the response has the same order.
    public var shortGUIDs: [ShortGUID]

    /// Creates a request.
    public init(shortGUIDs: [ShortGUID]) {
        self.shortGUIDs = shortGUIDs
    }
}

/// The target of a link to a share.
public struct ShareMetadata: Hashable, Sendable, Codable {
    /// The short ID of the request.
    public var shortGUID: SharesRequest.ShortGUID?
    /// The container.
    public var containerIdentifier: String
    /// The container's environment.
    public var environment: ServiceEnvironment?
    /// `PRIVATE` for the owner, `SHARED` for everyone else.
    public var databaseScope: String?
    /// The zone that holds the share.
    public var zoneID: WireZoneID
    /// The share.
    public var share: WireRecord
    /// The name of the shared record; nil for a share of a whole zone.
    public var rootRecordName: String?
    /// The shared record, if it was requested.
    public var rootRecord: WireRecord?
    /// The caller's role in the share.
    public var participantType: WireParticipant.ParticipantType?
    /// The caller's acceptance status.
    public var participantStatus: WireParticipant.AcceptanceStatus?
    /// The caller's access to the shared records.
    public var participantPermission: WireParticipant.Permission?
    /// The identity of the share's owner.
    public var ownerIdentity: ParticipantIdentity?

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case shortGUID, containerIdentifier, environment, databaseScope, zoneID, share
        case rootRecordName, rootRecord, participantType, participantStatus, participantPermission
        case ownerIdentity
    }

    /// Creates a description of a share.
    public init(containerIdentifier: String, zoneID: WireZoneID, share: WireRecord) {
        self.containerIdentifier = containerIdentifier
        self.zoneID = zoneID
        self.share = share
    }
}

/// The response of `records/resolve` and `records/accept`.
public struct SharesResponse: Hashable, Sendable, Codable {
    /// The shares in request order.
    public var results: [ItemResult<ShareMetadata>]

    /// Creates a response.
    public init(results: [ItemResult<ShareMetadata>]) {
        self.results = results
    }

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case results
    }

    /// Creates a response by decoding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        results = try container.decodeItems(ShareMetadata.self, forKey: .results)
    }

    /// Encodes a response.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeItems(results, forKey: .results)
    }
}
