/// A zone as answers describe it.
public struct WireZone: Hashable, Sendable, Codable {
    /// The zone's identity.
    public var zoneID: WireZoneID
    /// The zone's newest change token.
    public var syncToken: String?
    /// Whether modify requests of the zone can be atomic.
    public var atomic: Bool?
    /// Whether the zone was deleted.
    public var deleted: Bool?
    /// Why it was, where no app did it.
    public var deletionReason: ZoneDeletionReason?
    /// The share of the zone as a whole.
    ///
    /// An extension of this package's server, in answers of `zones/…` to a request with the query
    /// parameter `zoneShares=true`.
    public var share: WireReference?

    /// Makes a description of a zone.
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
