import CloudKitWire

/// A zone as one caller sees it.
struct ZoneView: Sendable {
    /// The stored zone.
    var zone: StoredZone
    /// The database that holds it.
    var database: StoredDatabase
    /// The zone's ID in responses.
    var id: WireZoneID
    /// The caller's access to the zone.
    var access: ZoneAccess
    /// The caller, if the zone belongs to another user.
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

    /// `true` for the default zone, which has no atomic requests and no change feed.
    var isDefault: Bool { id.isDefault }

    /// Returns the position in the zone's change feed after a change.
    func syncToken(after sequence: Int64, isReverse: Bool = false) -> SyncToken {
        SyncToken(
            feed: zone.id.rawValue,
            // A reset or a restore of the database expires the tokens of all its zones.
            incarnation: zone.incarnation &+ database.incarnation,
            sequence: sequence,
            isReverse: isReverse,
            viewer: viewer?.rawValue
        )
    }

    /// The zone in responses of `changes/database`: only its ID, as expected by clients that check
    /// every key of a response.
    var changed: WireZone { WireZone(zoneID: id, deleted: zone.isDeleted ? true : nil) }

    /// Returns the deletion of the zone's last generation in those responses, with its reason if
    /// requested.
    func deleted(namesReason: Bool) -> WireZone {
        WireZone(
            zoneID: id,
            deleted: true,
            deletionReason: namesReason ? zone.deletionReason : nil
        )
    }

    /// Returns the zone in responses of `zones/…`, with the share of the whole zone if requested.
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

    /// Returns the share of the whole zone, if there is one that the caller may see.
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
