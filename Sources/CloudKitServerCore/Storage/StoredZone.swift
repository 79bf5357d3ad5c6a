public import CloudKitWire

/// A zone: the unit of transaction and of order.
public struct StoredZone: Hashable, Sendable {
    /// The row.
    public var id: RowID<StoredZone>
    /// The database.
    public var database: RowID<StoredDatabase>
    /// The zone's name.
    public var name: String
    /// Which life of the zone this is: a zone made anew under an old name is another one.
    public var incarnation: Int64
    /// The number of the newest change to a record; numbers go on over lives.
    public var headSequence: Int64
    /// The number of the newest change to the zone in its database's feed.
    public var changeSequence: Int64
    /// Whether the zone was deleted.
    public var isDeleted: Bool
    /// The number, in its database's feed, with which this life of the zone began.
    public var birthSequence: Int64
    /// Bytes of the zone's records, with those of their assets.
    public var bytes: Int64
    /// The number of the newest deletion whose tombstone was removed; who has read the zone up to a
    /// smaller one may have missed deletions.
    public var horizonSequence: Int64
    /// Why the zone's last life ended, where no app deleted it; stays when the zone is made anew.
    public var deletionReason: ZoneDeletionReason?

    /// Makes a row.
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
