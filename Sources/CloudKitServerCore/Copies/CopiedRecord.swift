import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes the operation that brings a record's copy into another zone.
struct CopiedRecord {
    let source: ZoneView
    let target: ZoneView
    let links: AssetLinks
    /// The names of all records that are copied.
    let copied: Set<String>
    /// The parent of those whose own is not copied.
    let root: String?

    func operation(_ record: StoredRecord) throws -> RecordOperation {
        let fields = try RecordFields(stored: record.fields).fields.mapValues { field in
            var field = field
            field.value = field.value.map(value)
            return field
        }
        var wire = WireRecord(recordName: record.name, recordType: record.type, fields: fields)
        let parent = record.parent.flatMap { copied.contains($0) ? $0 : nil } ?? root
        wire.parent = parent.map { WireReference(recordName: $0) }
        return RecordOperation(.create, wire)
    }

    private func value(_ value: WireValue) -> WireValue {
        switch value {
        case .reference(let reference): .reference(self.reference(reference))
        case .asset(let asset): .asset(links.adding(receiptFor: place, to: asset))
        case .list(let values, let scalar): .list(values.map(self.value), of: scalar)
        default: value
        }
    }

    private var place: AssetLinks.Place {
        AssetLinks.Place(
            database: target.database.id.rawValue,
            zone: target.zone.id.rawValue,
            recordName: AssetLinks.Place.anyName,
            fieldName: AssetLinks.Place.anyName
        )
    }

    /// A reference between copies leads to the copy.
    ///
    /// One that leaves them goes on leading to where it led, without an action, as those cannot leave
    /// a zone.
    private func reference(_ reference: WireReference) -> WireReference {
        guard isInSource(reference.zoneID) else { return reference }
        var reference = reference
        if copied.contains(reference.recordName) {
            reference.zoneID = reference.zoneID == nil ? nil : target.id
        } else {
            reference.zoneID = source.id
            reference.action = WireReference.Action.none
        }
        return reference
    }

    private func isInSource(_ zone: WireZoneID?) -> Bool {
        guard let zone else { return true }
        guard zone.zoneName == source.id.zoneName else { return false }
        return zone.explicitOwner.map { $0 == source.id.ownerRecordName } ?? true
    }
}
