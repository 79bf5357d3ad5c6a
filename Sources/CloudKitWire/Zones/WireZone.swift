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
