import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Creates the operation that saves a record's copy in another zone.
struct CopiedRecord {
    let source: ZoneView
    let target: ZoneView
    let links: AssetLinks
    /// The names of all records that are copied.
    let copied: Set<String>
    /// The parent of copies whose own parent is not copied.
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

    /// Returns a reference for a copy; one between copied records refers to the copy.
    ///
    /// Any other reference keeps its target but loses its action because an action cannot cross zones.
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
