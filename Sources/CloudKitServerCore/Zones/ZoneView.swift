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
    /// The caller, where it is another user's zone.
    var viewer: RowID<StoredUser>?

    init(
        _ zone: StoredZone,
        in database: StoredDatabase,
        owner: String,
        access: ZoneAccess = .everything,
        viewer: RowID<StoredUser>? = nil
    ) {
        self.access = access
        self.viewer = viewer
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
            isReverse: isReverse,
            viewer: viewer?.rawValue
        )
    }

    /// The zone in answers of `changes/database`: its identity only, as clients observed that check
    /// every key of an answer.
    var changed: WireZone { WireZone(zoneID: id, deleted: zone.isDeleted ? true : nil) }

    /// The end of the zone's last life in those answers, with its reason for who asks for that.
    func deleted(namesReason: Bool) -> WireZone {
        WireZone(
            zoneID: id,
            deleted: true,
            deletionReason: namesReason ? zone.deletionReason : nil
        )
    }

    /// The zone in answers of `zones/…`; with the share of it as a whole for who asks for that.
    func wire(
        _ call: Call,
        _ seal: TokenSeal,
        _ reader: any StorageReader
    ) throws -> WireZone {
        let share = call.parameters.isTrue("zoneShares") ? try wholeShare(call, reader) : nil
        return WireZone(
            zoneID: id,
            syncToken: isDefault
                ? nil : syncToken(after: zone.headSequence).sealed(by: seal, for: .zoneChanges),
            atomic: !isDefault,
            share: share.map { WireReference(recordName: $0.name) }
        )
    }

    /// The share of the zone as a whole, where there is one that the caller may see.
    private func wholeShare(
        _ call: Call,
        _ reader: any StorageReader
    ) throws -> StoredRecord? {
        guard !isDefault,
            let record = try reader.record(zone.id, name: SharePart.zoneShareName),
            !record.isDeleted, try sight(call, schema: nil).shows(record, reader)
        else { return nil }
        return record
    }
}
