#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension WireField: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var before: JSONReader?
        var type: FieldType?
        var isEncrypted: Bool?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "value" {
                guard before == nil else { throw JSONReader.Unusual() }
                // Its form depends on the tag, which may come after it.
                before = try json.skip()
            } else if key == "type" {
                try json.set(&type) { json throws(JSONReader.Unusual) in try json.fieldType() }
            } else if key == "isEncrypted" {
                try json.set(&isEncrypted) { json throws(JSONReader.Unusual) in try json.bool() }
            } else {
                _ = try json.skip()
            }
        }
        let statedType = try json.required(type)
        var value: WireValue?
        if var before, !before.acceptNull() {
            value = try WireValue(json: &before, as: statedType)
        }
        self.init(value, isEncrypted: isEncrypted ?? false)
        self.statedType = statedType
    }
}

extension WireValue {
    fileprivate init(json: inout JSONReader, as type: FieldType) throws(JSONReader.Unusual) {
        guard type.isList else {
            self = try Self.scalar(&json, try json.required(type.scalar))
            return
        }
        let values = try json.array { json throws(JSONReader.Unusual) in
            try Self.scalar(&json, try json.required(type.scalar))
        }
        self = .list(values, of: type.scalar)
    }

    private static func scalar(
        _ json: inout JSONReader,
        _ scalar: FieldType.Scalar
    ) throws(JSONReader.Unusual) -> WireValue {
        switch scalar {
        case .string: return .string(try json.string())
        case .int64: return .int64(try json.integer())
        case .double: return .double(try json.double())
        case .timestamp: return .timestamp(try json.integer())
        case .bytes:
            guard let bytes = Data(base64Encoded: try json.string()) else {
                throw JSONReader.Unusual()
            }
            return .bytes(bytes)
        case .reference: return .reference(try WireReference(json: &json))
        case .location: return .location(try WireLocation(json: &json))
        case .asset: return .asset(try WireAsset(json: &json))
        }
    }
}

extension JSONReader {
    fileprivate mutating func fieldType() throws(Unusual) -> FieldType {
        try required(FieldType(tag: try string()))
    }
}

extension WireReference: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var recordName: String?
        var zoneID: WireZoneID?
        var action: Action?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "recordName" {
                try json.set(&recordName) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "zoneID" {
                try json.set(&zoneID, WireZoneID.init(json:))
            } else if key == "action" {
                try json.set(&action) { json throws(JSONReader.Unusual) in try json.required(Action(rawValue: try json.string())) }
            } else {
                _ = try json.skip()
            }
        }
        self.init(
            recordName: try json.required(recordName),
            zoneID: zoneID,
            action: action
        )
    }
}

extension WireLocation: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var latitude: Double?
        var longitude: Double?
        var horizontalAccuracy: Double?
        var verticalAccuracy: Double?
        var altitude: Double?
        var speed: Double?
        var course: Double?
        var timestamp: Int64?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "latitude" {
                try json.set(&latitude) { json throws(JSONReader.Unusual) in try json.double() }
            } else if key == "longitude" {
                try json.set(&longitude) { json throws(JSONReader.Unusual) in try json.double() }
            } else if key == "horizontalAccuracy" {
                try json.set(&horizontalAccuracy) { json throws(JSONReader.Unusual) in try json.double() }
            } else if key == "verticalAccuracy" {
                try json.set(&verticalAccuracy) { json throws(JSONReader.Unusual) in try json.double() }
            } else if key == "altitude" {
                try json.set(&altitude) { json throws(JSONReader.Unusual) in try json.double() }
            } else if key == "speed" {
                try json.set(&speed) { json throws(JSONReader.Unusual) in try json.double() }
            } else if key == "course" {
                try json.set(&course) { json throws(JSONReader.Unusual) in try json.double() }
            } else if key == "timestamp" {
                try json.set(&timestamp) { json throws(JSONReader.Unusual) in try json.integer() }
            } else {
                _ = try json.skip()
            }
        }
        self.init(
            latitude: try json.required(latitude),
            longitude: try json.required(longitude),
            horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy,
            altitude: altitude,
            speed: speed,
            course: course,
            timestamp: timestamp
        )
    }
}

extension WireAsset: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var fileChecksum: String?
        var size: Int64?
        var receipt: String?
        var wrappingKey: String?
        var referenceChecksum: String?
        var downloadURL: String?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "fileChecksum" {
                try json.set(&fileChecksum) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "size" {
                try json.set(&size) { json throws(JSONReader.Unusual) in try json.integer() }
            } else if key == "receipt" {
                try json.set(&receipt) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "wrappingKey" {
                try json.set(&wrappingKey) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "referenceChecksum" {
                try json.set(&referenceChecksum) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "downloadURL" {
                try json.set(&downloadURL) { json throws(JSONReader.Unusual) in try json.string() }
            } else {
                _ = try json.skip()
            }
        }
        self.init(
            fileChecksum: fileChecksum,
            size: size,
            receipt: receipt,
            wrappingKey: wrappingKey,
            referenceChecksum: referenceChecksum,
            downloadURL: downloadURL
        )
    }
}
