#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONWriter {
    /// Writes a record's fields in the order of their names, because equal fields must be equal
    /// bytes.
    package mutating func fields(
        _ fields: [String: WireField],
        numbersAsStrings: Bool = false
    ) {
        openObject()
        // Only the names are sorted, because the fields are large.
        for name in fields.keys.sorted() {
            guard let field = fields[name] else { continue }
            key(named: name)
            self.field(field, numbersAsStrings: numbersAsStrings)
        }
        closeObject()
    }

    /// Writes a field: its value, its tag and its `isEncrypted`.
    package mutating func field(_ field: WireField, numbersAsStrings: Bool = false) {
        openObject()
        key("value")
        if let value = field.value {
            self.value(value, numbersAsStrings: numbersAsStrings)
        } else {
            null()
        }
        member("type", (field.value?.type ?? field.statedType)?.tag)
        if field.isEncrypted { member("isEncrypted", true) }
        if let dates = field.exactDates {
            key("exactDates")
            openArray()
            for date in dates { double(date) }
            closeArray()
        }
        closeObject()
    }

    /// Writes a value without its tag.
    package mutating func value(_ value: WireValue, numbersAsStrings: Bool = false) {
        switch value {
        case .string(let text): string(text)
        case .int64(let integer) where numbersAsStrings: string(String(integer))
        case .double(let double) where numbersAsStrings: string(String(double))
        case .int64(let integer), .timestamp(let integer): self.integer(integer)
        case .double(let double): self.double(double)
        case .bytes(let data): string(data.base64EncodedString())
        case .reference(let reference): self.reference(reference)
        case .location(let location): self.location(location)
        case .asset(let asset): self.asset(asset)
        case .list(let values, _):
            openArray()
            for value in values { self.value(value, numbersAsStrings: numbersAsStrings) }
            closeArray()
        }
    }

    /// Writes a reference.
    package mutating func reference(_ reference: WireReference) {
        openObject()
        member("recordName", reference.recordName)
        if let zoneID = reference.zoneID {
            key("zoneID")
            self.zoneID(zoneID)
        }
        member("action", (reference.action ?? .none).rawValue)
        closeObject()
    }

    /// Writes a zone's ID.
    package mutating func zoneID(_ zoneID: WireZoneID) {
        openObject()
        member("zoneName", zoneID.zoneName)
        member("ownerRecordName", zoneID.ownerRecordName)
        member("zoneType", zoneID.zoneType)
        closeObject()
    }

    private mutating func location(_ location: WireLocation) {
        openObject()
        member("latitude", location.latitude)
        member("longitude", location.longitude)
        member("horizontalAccuracy", location.horizontalAccuracy)
        member("verticalAccuracy", location.verticalAccuracy)
        member("altitude", location.altitude)
        member("speed", location.speed)
        member("course", location.course)
        member("timestamp", location.timestamp)
        closeObject()
    }

    private mutating func asset(_ asset: WireAsset) {
        openObject()
        member("fileChecksum", asset.fileChecksum)
        member("size", asset.size)
        member("receipt", asset.receipt)
        member("wrappingKey", asset.wrappingKey)
        member("referenceChecksum", asset.referenceChecksum)
        member("downloadURL", asset.downloadURL)
        closeObject()
    }
}
