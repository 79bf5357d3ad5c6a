public import CloudKit
public import CoreLocation

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
