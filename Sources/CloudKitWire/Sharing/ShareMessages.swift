/// The body of `records/resolve` and `records/accept`.
public struct SharesRequest: Hashable, Sendable, Codable {
    /// The short identifier of a share, the last part of its link.
    public struct ShortGUID: Hashable, Sendable, Codable {
        /// The identifier.
        public var value: String
        /// Whether the answer holds the shared record.
        public var shouldFetchRootRecord: Bool?
        /// The fields of the shared record; nil for all.
        public var rootRecordDesiredKeys: [String]?

        /// Makes an identifier.
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

    /// The shares, answered in this order.
    public var shortGUIDs: [ShortGUID]

    /// Makes a request.
    public init(shortGUIDs: [ShortGUID]) {
        self.shortGUIDs = shortGUIDs
    }
}

/// What a link to a share stands for.
public struct ShareMetadata: Hashable, Sendable, Codable {
    /// The short identifier that was asked for.
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
    /// The shared record, where it was asked for.
    public var rootRecord: WireRecord?
    /// What the caller is to the share.
    public var participantType: WireParticipant.ParticipantType?
    /// Whether the caller has accepted.
    public var participantStatus: WireParticipant.AcceptanceStatus?
    /// What the caller may do.
    public var participantPermission: WireParticipant.Permission?
    /// Who shares.
    public var ownerIdentity: ParticipantIdentity?

    /// Makes a description of a share.
    public init(containerIdentifier: String, zoneID: WireZoneID, share: WireRecord) {
        self.containerIdentifier = containerIdentifier
        self.zoneID = zoneID
        self.share = share
    }
}

/// The answer of `records/resolve` and `records/accept`.
public struct SharesResponse: Hashable, Sendable, Codable {
    /// The shares in request order.
    public var results: [ItemResult<ShareMetadata>]

    /// Makes an answer.
    public init(results: [ItemResult<ShareMetadata>]) {
        self.results = results
    }

    private enum CodingKeys: CodingKey {
        case results
    }

    /// Reads an answer.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        results = try container.decodeItems(ShareMetadata.self, forKey: .results)
    }

    /// Writes an answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeItems(results, forKey: .results)
    }
}
