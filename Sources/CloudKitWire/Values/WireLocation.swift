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
