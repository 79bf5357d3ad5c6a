public import CloudKitWire

/// A zone: the unit of transaction and of order.
public struct StoredZone: Hashable, Sendable {
    /// The row.
    public var id: RowID<StoredZone>
    /// The database.
    public var database: RowID<StoredDatabase>
    /// The zone's name.
    public var name: String
    /// The incarnation of the zone; a zone that is created again under an old name has another one.
    public var incarnation: Int64
    /// The number of the newest change to a record; numbers continue across incarnations, and begin
    /// above the database's.
    public var headSequence: Int64
    /// The number of the newest change to the zone in its database's feed.
    public var changeSequence: Int64
    /// A Boolean value that indicates whether the zone was deleted.
    public var isDeleted: Bool
    /// The number, in its database's feed, with which this incarnation of the zone began.
    public var birthSequence: Int64
    /// The bytes of the zone's records, including their assets.
    public var bytes: Int64
    /// The number of the newest deletion whose tombstone was removed; a client that has read the
    /// zone up to a lower number may have missed deletions.
    public var horizonSequence: Int64
    /// The reason for the zone's last deletion, if no app deleted it; kept when the zone is created
    /// again.
    public var deletionReason: ZoneDeletionReason?

    /// Creates a row.
    public init(
        id: RowID<StoredZone>,
        database: RowID<StoredDatabase>,
        name: String,
        incarnation: Int64,
        headSequence: Int64,
        changeSequence: Int64,
        isDeleted: Bool,
        birthSequence: Int64 = 0,
        bytes: Int64 = 0,
        horizonSequence: Int64 = 0,
        deletionReason: ZoneDeletionReason? = nil
    ) {
        self.id = id
        self.database = database
        self.name = name
        self.incarnation = incarnation
        self.headSequence = headSequence
        self.changeSequence = changeSequence
        self.isDeleted = isDeleted
        self.birthSequence = birthSequence
        self.bytes = bytes
        self.horizonSequence = horizonSequence
        self.deletionReason = deletionReason
    }
}
