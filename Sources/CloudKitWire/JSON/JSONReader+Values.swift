#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension [String: WireField] {
    /// Creates fields from JSON of a common form; nil for any other, which Foundation may decode.
    init?(common data: Data) {
        var reader = JSONReader(data)
        // Any error means an uncommon form, which Codable decodes or reports as invalid.
        guard let fields = try? reader.allFields() else { return nil }
        self = fields
    }
}

extension JSONReader {
    fileprivate mutating func allFields() throws(GaveUp) -> [String: WireField] {
        let fields = try fields()
        try end()
        return fields
    }

    /// Reads a zone's ID.
    mutating func zoneID() throws(GaveUp) -> WireZoneID {
        var zone = WireZoneID.defaultZone
        try message(WireZoneID.CodingKeys.self) { (reader, key) throws(GaveUp) in
            switch key {
            case .zoneName:
                zone.zoneName =
                    try reader.optional { r throws(GaveUp) in try r.string() } ?? zone.zoneName
            case .ownerRecordName:
                zone.ownerRecordName = try reader.optional { r throws(GaveUp) in try r.string() }
            case .zoneType:
                zone.zoneType = try reader.optional { r throws(GaveUp) in try r.string() }
            }
        }
        return zone
    }

    /// Reads the fields of a record.
    mutating func fields() throws(GaveUp) -> [String: WireField] {
        var fields: [String: WireField] = [:]
        // Most records have about ten fields: one allocation instead of four.
        fields.reserveCapacity(12)
        try object { (reader, key) throws(GaveUp) in
            guard fields.updateValue(try reader.field(), forKey: key) == nil else { throw GaveUp() }
        }
        return fields
    }

    private mutating func field() throws(GaveUp) -> WireField {
        var type: FieldType?
        var isEncrypted = false
        var value: WireValue?
        var exactDates: [Double]?
        // A value that precedes its type is skipped, and read when the type is known.
        var valuePlace: Int?
        try message(WireField.CodingKeys.self) { (reader, key) throws(GaveUp) in
            switch key {
            case .value:
                if try reader.null() { break }
                if let type {
                    value = try reader.value(of: type)
                } else {
                    valuePlace = reader.place
                    try reader.skip()
                }
            case .type:
                guard !(try reader.null()) else { break }
                type = FieldType(tag: try reader.string())
                if type == nil { throw GaveUp() }
            case .isEncrypted:
                isEncrypted = try reader.optional { r throws(GaveUp) in try r.bool() } ?? false
            case .exactDates:
                var dates: [Double] = []
                try reader.array { (reader) throws(GaveUp) in
                    dates.append(try reader.double())
                }
                exactDates = dates
            }
        }
        if let valuePlace {
            let end = place
            go(to: valuePlace)
            value = if let type { try self.value(of: type) } else { try untypedValue() }
            go(to: end)
        }
        var field = WireField(value, isEncrypted: isEncrypted)
        field.statedType = type
        field.exactDates = exactDates
        return field
    }

    private mutating func value(of type: FieldType) throws(GaveUp) -> WireValue {
        guard type.isList else {
            guard let scalar = type.scalar else { throw GaveUp() }
            return try self.scalar(scalar)
        }
        var values: [WireValue] = []
        try array { (reader) throws(GaveUp) in
            guard let scalar = type.scalar else { throw GaveUp() }
            values.append(try reader.scalar(scalar))
        }
        return .list(values, of: type.scalar)
    }

    private mutating func scalar(_ type: FieldType.Scalar) throws(GaveUp) -> WireValue {
        switch type {
        case .string: .string(try string())
        case .int64: .int64(try integer())
        case .double: .double(try double())
        case .timestamp: .timestamp(try integer())
        case .bytes: .bytes(try data())
        case .reference: .reference(try reference())
        case .location: .location(try location())
        case .asset: .asset(try asset())
        }
    }

    /// Reads a value whose type follows from its form.
    private mutating func untypedValue() throws(GaveUp) -> WireValue {
        switch try peek() {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), 0x30...0x39: return try numberValue()
        case UInt8(ascii: "{"): return try untypedObject()
        case UInt8(ascii: "["):
            var values: [WireValue] = []
            try array { (reader) throws(GaveUp) in values.append(try reader.untypedValue()) }
            guard let first = values.first else { return .list([], of: nil) }
            guard let scalar = first.type.scalar, !first.type.isList,
                values.allSatisfy({ $0.type == first.type })
            else { throw GaveUp() }
            return .list(values, of: scalar)
        default: throw GaveUp()
        }
    }

    /// Reads an object whose first member determines its type.
    private mutating func untypedObject() throws(GaveUp) -> WireValue {
        let start = place
        guard try take("{"), try peek() == UInt8(ascii: "\"") else { throw GaveUp() }
        let key = try string()
        go(to: start)
        switch FieldType.Scalar(markedBy: key) {
        case .reference: return .reference(try reference())
        case .location: return .location(try location())
        case .asset: return .asset(try asset())
        default: throw GaveUp()
        }
    }

    private mutating func data() throws(GaveUp) -> Data {
        guard let data = Data(base64Encoded: try string()) else { throw GaveUp() }
        return data
    }

    /// Reads a reference; gives up on unknown members.
    mutating func reference() throws(GaveUp) -> WireReference {
        var reference = WireReference(recordName: "")
        let keys = try message(WireReference.CodingKeys.self, others: .refused) {
            (reader, key) throws(GaveUp) in
            switch key {
            case .recordName: reference.recordName = try reader.string()
            case .zoneID:
                reference.zoneID = try reader.optional { r throws(GaveUp) in try r.zoneID() }
            case .action:
                guard !(try reader.null()) else { break }
                reference.action = WireReference.Action(rawValue: try reader.string())
                if reference.action == nil { throw GaveUp() }
            }
        }
        guard keys.contains(.recordName) else { throw GaveUp() }
        return reference
    }

    private mutating func location() throws(GaveUp) -> WireLocation {
        var location = WireLocation(latitude: 0, longitude: 0)
        let keys = try message(WireLocation.CodingKeys.self, others: .refused) {
            (reader, key) throws(GaveUp) in
            switch key {
            case .latitude: location.latitude = try reader.double()
            case .longitude: location.longitude = try reader.double()
            case .horizontalAccuracy: location.horizontalAccuracy = try reader.double()
            case .verticalAccuracy: location.verticalAccuracy = try reader.double()
            case .altitude: location.altitude = try reader.double()
            case .speed: location.speed = try reader.double()
            case .course: location.course = try reader.double()
            case .timestamp: location.timestamp = try reader.integer()
            }
        }
        guard keys.contains(.latitude), keys.contains(.longitude) else { throw GaveUp() }
        return location
    }

    private mutating func asset() throws(GaveUp) -> WireAsset {
        var asset = WireAsset()
        try message(WireAsset.CodingKeys.self, others: .refused) { (reader, key) throws(GaveUp) in
            switch key {
            case .fileChecksum: asset.fileChecksum = try reader.string()
            case .size: asset.size = try reader.integer()
            case .receipt: asset.receipt = try reader.string()
            case .wrappingKey: asset.wrappingKey = try reader.string()
            case .referenceChecksum: asset.referenceChecksum = try reader.string()
            case .downloadURL: asset.downloadURL = try reader.string()
            }
        }
        return asset
    }
}
