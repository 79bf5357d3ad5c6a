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
        typealias Key = WireField.CodingKeys
        openObject()
        key(Key.value)
        if let value = field.value {
            self.value(value, numbersAsStrings: numbersAsStrings)
        } else {
            null()
        }
        member(Key.type, (field.value?.type ?? field.statedType)?.tag)
        if field.isEncrypted { member(Key.isEncrypted, true) }
        if let dates = field.exactDates {
            key(Key.exactDates)
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
        typealias Key = WireReference.CodingKeys
        openObject()
        member(Key.recordName, reference.recordName)
        if let zoneID = reference.zoneID {
            key(Key.zoneID)
            self.zoneID(zoneID)
        }
        member(Key.action, (reference.action ?? .none).rawValue)
        closeObject()
    }

    /// Writes a zone's ID.
    package mutating func zoneID(_ zoneID: WireZoneID) {
        typealias Key = WireZoneID.CodingKeys
        openObject()
        member(Key.zoneName, zoneID.zoneName)
        member(Key.ownerRecordName, zoneID.ownerRecordName)
        member(Key.zoneType, zoneID.zoneType)
        closeObject()
    }

    private mutating func location(_ location: WireLocation) {
        typealias Key = WireLocation.CodingKeys
        openObject()
        member(Key.latitude, location.latitude)
        member(Key.longitude, location.longitude)
        member(Key.horizontalAccuracy, location.horizontalAccuracy)
        member(Key.verticalAccuracy, location.verticalAccuracy)
        member(Key.altitude, location.altitude)
        member(Key.speed, location.speed)
        member(Key.course, location.course)
        member(Key.timestamp, location.timestamp)
        closeObject()
    }

    private mutating func asset(_ asset: WireAsset) {
        typealias Key = WireAsset.CodingKeys
        openObject()
        member(Key.fileChecksum, asset.fileChecksum)
        member(Key.size, asset.size)
        member(Key.receipt, asset.receipt)
        member(Key.wrappingKey, asset.wrappingKey)
        member(Key.referenceChecksum, asset.referenceChecksum)
        member(Key.downloadURL, asset.downloadURL)
        closeObject()
    }
}
