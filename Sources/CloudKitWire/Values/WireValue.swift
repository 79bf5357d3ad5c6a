#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The value of a record's field.
public enum WireValue: Hashable, Sendable {
    /// Unicode text.
    case string(String)
    /// A signed 64-bit integer; booleans are 0 and 1.
    case int64(Int64)
    /// A finite 64-bit floating-point number.
    case double(Double)
    /// Milliseconds since 1970-01-01 UTC.
    case timestamp(Int64)
    /// Raw bytes.
    case bytes(Data)
    /// A reference to a record.
    case reference(WireReference)
    /// A geographic location.
    case location(WireLocation)
    /// A file stored apart from the record.
    case asset(WireAsset)
    /// Values of one type; the type is nil only for an empty list that never had one.
    case list([WireValue], of: FieldType.Scalar?)

    /// The value's type.
    public var type: FieldType {
        switch self {
        case .string: FieldType(.string)
        case .int64: FieldType(.int64)
        case .double: FieldType(.double)
        case .timestamp: FieldType(.timestamp)
        case .bytes: FieldType(.bytes)
        case .reference: FieldType(.reference)
        case .location: FieldType(.location)
        case .asset: FieldType(.asset)
        case .list(_, let scalar): FieldType(listOf: scalar)
        }
    }

    /// The value's share of a record's size, in bytes; an asset's file does not count.
    public var byteCount: Int {
        switch self {
        case .string(let string): string.utf8.count
        case .int64, .double, .timestamp: 8
        case .bytes(let data): data.count
        case .reference(let reference): reference.recordName.utf8.count + 16
        case .location: 64
        case .asset: 64
        case .list(let values, _): values.reduce(0) { $0 + $1.byteCount }
        }
    }
}

/// A reference to a record.
public struct WireReference: Hashable, Sendable, Codable {
    /// The effects that deleting the target can have on the referring record.
    public enum Action: String, Hashable, Sendable, Codable {
        /// No effect; the reference then refers to no record.
        case none = "NONE"
        /// The referring record is deleted too.
        case deleteSelf = "DELETE_SELF"
        /// The target must exist and cannot be deleted while it is referenced.
        case validate = "VALIDATE"
    }

    /// The target's name.
    public var recordName: String
    /// The target's zone; nil for the zone of the referring record.
    public var zoneID: WireZoneID?
    /// The effect of the target's deletion; nil means `none`.
    public var action: Action?

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case recordName, zoneID, action
    }

    /// Creates a reference to a record.
    public init(recordName: String, zoneID: WireZoneID? = nil, action: Action? = nil) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.action = action
    }
}

/// A geographic location: degrees, metres, metres per second and milliseconds.
public struct WireLocation: Hashable, Sendable, Codable {
    /// Degrees north of the equator.
    public var latitude: Double
    /// Degrees east of Greenwich.
    public var longitude: Double
    /// The radius of uncertainty in metres.
    public var horizontalAccuracy: Double?
    /// The uncertainty of the altitude in metres.
    public var verticalAccuracy: Double?
    /// The altitude in metres above sea level.
    public var altitude: Double?
    /// The speed in metres per second.
    public var speed: Double?
    /// The course in degrees clockwise from north.
    public var course: Double?
    /// The time at which the location was determined, in milliseconds since 1970-01-01 UTC.
    public var timestamp: Int64?

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case latitude, longitude, horizontalAccuracy, verticalAccuracy, altitude, speed, course
        case timestamp
    }

    /// Creates a location from its coordinates.
    public init(
        latitude: Double,
        longitude: Double,
        horizontalAccuracy: Double? = nil,
        verticalAccuracy: Double? = nil,
        altitude: Double? = nil,
        speed: Double? = nil,
        course: Double? = nil,
        timestamp: Int64? = nil
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.altitude = altitude
        self.speed = speed
        self.course = course
        self.timestamp = timestamp
    }
}

/// A file stored apart from its record.
///
/// A client writes the members of the upload's response (`fileChecksum`, `size`, `receipt`, …) and
/// reads `fileChecksum`, `size` and `downloadURL`.
public struct WireAsset: Hashable, Sendable, Codable {
    /// The checksum that identifies the contents.
    public var fileChecksum: String?
    /// The file's size in bytes.
    public var size: Int64?
    /// The proof that the file was uploaded; written, never read.
    public var receipt: String?
    /// The key that wraps the file's own key in encrypted databases.
    public var wrappingKey: String?
    /// The checksum that identifies the encrypted contents.
    public var referenceChecksum: String?
    /// The address to fetch the file from; read only.
    ///
    /// May contain `${f}`, a placeholder for any file name.
    public var downloadURL: String?

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case fileChecksum, size, receipt, wrappingKey, referenceChecksum, downloadURL
    }

    /// Creates an asset from its known members.
    public init(
        fileChecksum: String? = nil,
        size: Int64? = nil,
        receipt: String? = nil,
        wrappingKey: String? = nil,
        referenceChecksum: String? = nil,
        downloadURL: String? = nil
    ) {
        self.fileChecksum = fileChecksum
        self.size = size
        self.receipt = receipt
        self.wrappingKey = wrappingKey
        self.referenceChecksum = referenceChecksum
        self.downloadURL = downloadURL
    }
}
