public import CloudKit
public import CoreLocation

/// A type that records hold directly and that is not `Codable`: a location, a reference, an asset, or
/// an optional or a list of these.
///
/// Wrap such a property in ``CloudKitValue``.
public protocol CloudKitNativeValue {
    /// The value in the form that a record holds; nil for none.
    var recordValue: (any CKRecordValue)? { get }

    /// Returns the value that a record holds; nil when it has another type.
    static func value(from recordValue: (any CKRecordValue)?) -> Self?

    /// Encodes the value for coders that are not of this module.
    func encodePortably(to encoder: any Encoder) throws

    /// Decodes what `encodePortably(to:)` encoded.
    static func decodePortably(from decoder: any Decoder) throws -> Self
}

extension Optional: CloudKitNativeValue where Wrapped: CloudKitNativeValue {
    /// The wrapped value in the form that a record holds.
    public var recordValue: (any CKRecordValue)? { self?.recordValue }

    /// Returns the wrapped value; a missing value is nil.
    public static func value(from recordValue: (any CKRecordValue)?) -> Self? {
        guard let recordValue else { return .some(nil) }
        return Wrapped.value(from: recordValue).map { .some($0) }
    }

    /// Encodes the wrapped value, or null.
    public func encodePortably(to encoder: any Encoder) throws {
        if let value = self {
            try value.encodePortably(to: encoder)
        } else {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    /// Decodes the wrapped value, or null.
    public static func decodePortably(from decoder: any Decoder) throws -> Self {
        if try decoder.singleValueContainer().decodeNil() { return nil }
        return try Wrapped.decodePortably(from: decoder)
    }
}

extension Array: CloudKitNativeValue where Element: CloudKitNativeValue {
    /// The elements as a list.
    public var recordValue: (any CKRecordValue)? {
        NSArray(array: compactMap(\.recordValue))
    }

    /// Returns the list, if every element has the right type.
    public static func value(from recordValue: (any CKRecordValue)?) -> [Element]? {
        guard let objects = recordValue as? [Any] else { return nil }
        let values = objects.compactMap { object in
            Element.value(from: object as? any CKRecordValue)
        }
        return values.count == objects.count ? values : nil
    }

    /// Encodes the elements.
    public func encodePortably(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try element.encodePortably(to: container.superEncoder()) }
    }

    /// Decodes the elements.
    public static func decodePortably(from decoder: any Decoder) throws -> [Element] {
        var container = try decoder.unkeyedContainer()
        var elements: [Element] = []
        while !container.isAtEnd {
            elements.append(try Element.decodePortably(from: container.superDecoder()))
        }
        return elements
    }
}

extension CloudKitNativeValue {
    /// Returns the value if its class is the requested one: a subclass of Apple's cannot be created
    /// here.
    static func checked(_ value: (some Any)?, _ decoder: any Decoder) throws -> Self {
        guard let value = value as? Self else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "expected a \(Self.self), which this coder cannot read"
                )
            )
        }
        return value
    }
}

extension CKAsset: CloudKitNativeValue {
    /// The asset.
    public var recordValue: (any CKRecordValue)? { self }

    /// Returns the value if it is an asset.
    public static func value(from recordValue: (any CKRecordValue)?) -> Self? {
        recordValue as? Self
    }

    /// Throws an error: only a record can carry a file.
    ///
    /// - Throws: `EncodingError.invalidValue`, always.
    public func encodePortably(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self,
            .init(
                codingPath: encoder.codingPath,
                debugDescription: """
                    a file can only be a field of a record: make the property one of the model \
                    itself, or the value around it a model
                    """
            )
        )
    }

    /// Throws an error: only a record can carry a file.
    ///
    /// - Throws: `DecodingError.dataCorrupted`, always.
    public static func decodePortably(from decoder: any Decoder) throws -> Self {
        try checked(CKAsset?.none, decoder)
    }
}

extension CKRecord.Reference: CloudKitNativeValue {
    private enum CodingKeys: String, CodingKey {
        case recordName, zoneName, ownerName, action
    }

    /// The reference.
    public var recordValue: (any CKRecordValue)? { self }

    /// Returns the value if it is a reference.
    public static func value(from recordValue: (any CKRecordValue)?) -> Self? {
        recordValue as? Self
    }

    /// Encodes the target and the action.
    public func encodePortably(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordID.recordName, forKey: .recordName)
        try container.encode(recordID.zoneID.zoneName, forKey: .zoneName)
        try container.encode(recordID.zoneID.ownerName, forKey: .ownerName)
        try container.encode(action.rawValue, forKey: .action)
    }

    /// Decodes what `encodePortably(to:)` encoded.
    public static func decodePortably(from decoder: any Decoder) throws -> Self {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let names = try [CodingKeys.recordName, .zoneName, .ownerName].map { key in
            try container.decode(String.self, forKey: key)
        }
        let action = CKRecord.ReferenceAction(
            rawValue: try container.decode(UInt.self, forKey: .action)
        )
        guard let action, names.allSatisfy({ !$0.isEmpty }) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "expected a reference: an empty name or an unknown action"
                )
            )
        }
        let zoneID = CKRecordZone.ID(zoneName: names[1], ownerName: names[2])
        let reference = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: names[0], zoneID: zoneID),
            action: action
        )
        return try checked(reference, decoder)
    }
}

extension CLLocation: CloudKitNativeValue {
    private enum CodingKeys: String, CodingKey {
        case latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed
        case timestamp
    }

    /// The location.
    public var recordValue: (any CKRecordValue)? { self }

    /// Returns the value if it is a location.
    public static func value(from recordValue: (any CKRecordValue)?) -> Self? {
        recordValue as? Self
    }

    /// Encodes all properties of the location.
    public func encodePortably(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(coordinate.latitude, forKey: .latitude)
        try container.encode(coordinate.longitude, forKey: .longitude)
        try container.encode(altitude, forKey: .altitude)
        try container.encode(horizontalAccuracy, forKey: .horizontalAccuracy)
        try container.encode(verticalAccuracy, forKey: .verticalAccuracy)
        try container.encode(course, forKey: .course)
        try container.encode(speed, forKey: .speed)
        try container.encode(timestamp, forKey: .timestamp)
    }

    /// Decodes what `encodePortably(to:)` encoded.
    public static func decodePortably(from decoder: any Decoder) throws -> Self {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let location = CLLocation(
            coordinate: CLLocationCoordinate2D(
                latitude: try container.decode(Double.self, forKey: .latitude),
                longitude: try container.decode(Double.self, forKey: .longitude)
            ),
            altitude: try container.decode(Double.self, forKey: .altitude),
            horizontalAccuracy: try container.decode(Double.self, forKey: .horizontalAccuracy),
            verticalAccuracy: try container.decode(Double.self, forKey: .verticalAccuracy),
            course: try container.decode(Double.self, forKey: .course),
            speed: try container.decode(Double.self, forKey: .speed),
            timestamp: try container.decode(Date.self, forKey: .timestamp)
        )
        return try checked(location, decoder)
    }
}
