import CloudKitWire

/// The zone that records lie in, as the one that their references mean unless they name another.
///
/// References are compared in one form: without a zone where they stay in this one, without an owner
/// where they stay with its owner, and without an action.
struct ReferenceHome: Hashable {
    /// The zone's name.
    let zoneName: String
    /// The record name of the zone's owner.
    let owner: String
    /// The record name of who asks, where that is another user than the owner.
    var caller: String?

    init(zoneName: String, owner: String, caller: String? = nil) {
        self.zoneName = zoneName
        self.owner = owner
        self.caller = caller == owner ? nil : caller
    }

    /// The home of the records of a stored zone.
    init(_ zone: StoredZone, _ reader: any StorageReader) throws {
        let user = try reader.database(zone.database)?.owner.flatMap { try reader.user($0) }
        self.init(zoneName: zone.name, owner: user?.recordName ?? ZoneDirectory.publicOwner)
    }

    /// A reference in the form in which references are compared.
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

    /// A value whose references are in the form in which they are compared.
    func normalized(_ value: WireValue) -> WireValue {
        switch value {
        case .reference(let reference): .reference(normalized(reference))
        case .list(let values, of: .reference): .list(values.map(normalized), of: .reference)
        default: value
        }
    }

    /// An owner that is not the zone's own; nil for that one, by whichever name.
    private func foreignOwner(_ name: String?) -> String? {
        guard let name, !name.isEmpty, name != owner else { return nil }
        return WireZoneID.currentUserNames.contains(name) ? caller : name
    }
}

extension ZoneView {
    /// The home of the zone's records.
    func home(for caller: String? = nil) -> ReferenceHome {
        ReferenceHome(
            zoneName: id.zoneName,
            owner: id.ownerRecordName ?? ZoneDirectory.publicOwner,
            caller: caller
        )
    }
}

/// The homes of the records that a long task has met so far.
struct ReferenceHomes {
    private var known: [RowID<StoredZone>: ReferenceHome] = [:]

    /// The home of the records of a zone.
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
