/// A geographic location: degrees, metres, metres per second and milliseconds.
public struct WireLocation: Hashable, Sendable, Codable {
    /// Degrees north of the equator.
    public var latitude: Double
    /// Degrees east of Greenwich.
    public var longitude: Double
    /// Radius of uncertainty in metres.
    public var horizontalAccuracy: Double?
    /// Uncertainty of the altitude in metres.
    public var verticalAccuracy: Double?
    /// Metres above sea level.
    public var altitude: Double?
    /// Metres per second.
    public var speed: Double?
    /// Degrees clockwise from north.
    public var course: Double?
    /// Milliseconds since 1970-01-01 UTC at which the location was determined.
    public var timestamp: Int64?

    /// Makes a location from its coordinates.
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
