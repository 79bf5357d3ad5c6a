import CloudKitWire

/// The zone of records, which their references mean unless they name another one.
///
/// References are compared in a normalized form: without a zone if it is this one, without an owner
/// if it is this zone's owner, and without an action.
struct ReferenceHome: Hashable {
    /// The zone's name.
    let zoneName: String
    /// The record name of the zone's owner.
    let owner: String
    /// The caller's record name, if the caller is not the owner.
    var caller: String?

    init(zoneName: String, owner: String, caller: String? = nil) {
        self.zoneName = zoneName
        self.owner = owner
        self.caller = caller == owner ? nil : caller
    }

    /// Creates the home of a stored zone's records.
    init(_ zone: StoredZone, _ reader: any StorageReader) throws {
        let user = try reader.database(zone.database)?.owner.flatMap { try reader.user($0) }
        self.init(zoneName: zone.name, owner: user?.recordName ?? ZoneDirectory.publicOwner)
    }

    /// Returns a reference in its normalized form.
    func normalized(_ reference: WireReference) -> WireReference {
        guard let zone = reference.zoneID else {
            return WireReference(recordName: reference.recordName)
        }
        let owner = foreignOwner(zone.ownerRecordName)
        if owner == nil, zone.zoneName == zoneName {
            return WireReference(recordName: reference.recordName)
        }
        return WireReference(
            recordName: reference.recordName,
            zoneID: WireZoneID(zoneName: zone.zoneName, ownerRecordName: owner)
        )
    }

    /// Returns a value with its references in normalized form.
    func normalized(_ value: WireValue) -> WireValue {
        switch value {
        case .reference(let reference): .reference(normalized(reference))
        case .list(let values, of: .reference): .list(values.map(normalized), of: .reference)
        default: value
        }
    }

    /// Returns an owner other than the zone's own; nil for that one, under any of its names.
    private func foreignOwner(_ name: String?) -> String? {
        guard let name, !name.isEmpty, name != owner else { return nil }
        return WireZoneID.currentUserNames.contains(name) ? caller : name
    }
}

extension ZoneView {
    /// Returns the home of the zone's records.
    func home(for caller: String? = nil) -> ReferenceHome {
        ReferenceHome(
            zoneName: id.zoneName,
            owner: id.ownerRecordName ?? ZoneDirectory.publicOwner,
            caller: caller
        )
    }
}

/// The homes of the records that a long task has visited so far.
struct ReferenceHomes {
    private var known: [RowID<StoredZone>: ReferenceHome] = [:]

    /// Returns the home of a zone's records.
    mutating func home(
        of zone: RowID<StoredZone>,
        _ reader: any StorageReader
    ) throws -> ReferenceHome {
        if let home = known[zone] { return home }
        guard let row = try reader.zone(zone) else {
            throw StorageError(.corrupt, "The zone of a record is missing")
        }
        let home = try ReferenceHome(row, reader)
        known[zone] = home
        return home
    }
}
