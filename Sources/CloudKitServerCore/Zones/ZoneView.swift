import CloudKitWire

/// A zone as one caller sees it.
struct ZoneView: Sendable {
    /// The stored zone.
    var zone: StoredZone
    /// The database that holds it.
    var database: StoredDatabase
    /// The zone's identity in answers.
    var id: WireZoneID
    /// What the caller may see and change of it.
    var access: ZoneAccess

    init(
        _ zone: StoredZone,
        in database: StoredDatabase,
        owner: String,
        access: ZoneAccess = .everything
    ) {
        self.access = access
        self.zone = zone
        self.database = database
        let isDefault = zone.name == WireZoneID.defaultZoneName
        id = WireZoneID(
            zoneName: zone.name,
            ownerRecordName: owner,
            zoneType: isDefault ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE"
        )
    }

    /// Whether this is the default zone, which has no atomic requests and no change feed.
    var isDefault: Bool { id.isDefault }

    /// The place in the zone's change feed behind a change.
    func syncToken(after sequence: Int64, isReverse: Bool = false) -> SyncToken {
        SyncToken(
            feed: zone.id.rawValue,
            incarnation: zone.incarnation &+ database.incarnation,
            sequence: sequence,
            isReverse: isReverse
        )
    }

    /// The zone in answers of `changes/database`: its identity only, as clients observed that check
    /// every key of an answer.
    var changed: WireZone { WireZone(zoneID: id, deleted: zone.isDeleted ? true : nil) }

    /// The zone in answers of `zones/…`.
    func wire(_ seal: TokenSeal) -> WireZone {
        WireZone(
            zoneID: id,
            syncToken: isDefault
                ? nil : syncToken(after: zone.headSequence).sealed(by: seal, for: .zoneChanges),
            atomic: !isDefault
        )
    }
}
