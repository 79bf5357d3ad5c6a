public import Foundation

/// A location on the earth with its accuracy, course and time.
///
/// As in Apple's class, the values are in metres, degrees and metres per second, and a negative
/// accuracy, speed or course is not known.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant value; a subclass is
    // responsible for its own.

    /// The point on the earth.
    public let coordinate: CLLocationCoordinate2D

    /// The altitude in metres above sea level.
    public let altitude: CLLocationDistance

    /// The point's radius of uncertainty in metres; negative when the point is not known.
    public let horizontalAccuracy: CLLocationAccuracy

    /// The altitude's uncertainty in metres; negative when the altitude is not known.
    public let verticalAccuracy: CLLocationAccuracy

    /// The course in degrees clockwise from north; negative when not known.
    public let course: CLLocationDirection

    /// The speed in metres per second; negative when not known.
    public let speed: CLLocationSpeed

    /// The time at which the location was determined.
    public let timestamp: Date

    /// Creates a location from all of its values.
    public init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy,
        course: CLLocationDirection,
        speed: CLLocationSpeed,
        timestamp: Date
    ) {
        self.coordinate = coordinate
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
    }

    /// Creates a location whose course and speed are not known.
    public convenience init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy,
        timestamp: Date
    ) {
        self.init(
            coordinate: coordinate,
            altitude: altitude,
            horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy,
            course: -1,
            speed: -1,
            timestamp: timestamp
        )
    }

    /// Creates a location from its coordinates, with the current time; the altitude is not known.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
            altitude: 0,
            horizontalAccuracy: 0,
            verticalAccuracy: -1,
            timestamp: Date()
        )
    }

    /// Returns the distance in metres to another location on a great circle of a sphere with the
    /// earth's mean radius.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        let radius = 6_371_008.8
        let (fromLatitude, toLatitude) = (
            coordinate.latitude * .pi / 180, location.coordinate.latitude * .pi / 180
        )
        let latitudes = toLatitude - fromLatitude
        let longitudes = (location.coordinate.longitude - coordinate.longitude) * .pi / 180
        let haversine =
            pow(sin(latitudes / 2), 2)
            + cos(fromLatitude) * cos(toLatitude) * pow(sin(longitudes / 2), 2)
        return 2 * radius * asin(min(1, haversine.squareRoot()))
    }

    // MARK: Equality

    /// Returns whether all values are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLLocation else { return false }
        return values == other.values && timestamp == other.timestamp
    }

    /// A hash of the coordinates and the time.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(coordinate.latitude)
        hasher.combine(coordinate.longitude)
        hasher.combine(timestamp)
        return hasher.finalize()
    }

    private var values: [Double] {
        [
            coordinate.latitude, coordinate.longitude, altitude, horizontalAccuracy,
            verticalAccuracy, course, speed,
        ]
    }

    // MARK: Copying and coding

    /// Returns the location itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    private static let keys = [
        "latitude", "longitude", "altitude", "horizontalAccuracy", "verticalAccuracy", "course",
        "speed",
    ]

    /// Encodes all values.
    open func encode(with coder: NSCoder) {
        for (key, value) in zip(Self.keys, values) { coder.encode(value, forKey: key) }
        coder.encode(timestamp.timeIntervalSinceReferenceDate, forKey: "timestamp")
    }

    /// Creates a location from an archive; nil when a value is missing.
    public required init?(coder: NSCoder) {
        guard (Self.keys + ["timestamp"]).allSatisfy(coder.containsValue(forKey:)) else {
            return nil
        }
        let values = Self.keys.map { coder.decodeDouble(forKey: $0) }
        coordinate = CLLocationCoordinate2D(latitude: values[0], longitude: values[1])
        altitude = values[2]
        horizontalAccuracy = values[3]
        verticalAccuracy = values[4]
        course = values[5]
        speed = values[6]
        timestamp = Date(
            timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "timestamp")
        )
    }

    /// A textual representation with the coordinates and the time.
    open override var description: String {
        "<\(coordinate.latitude),\(coordinate.longitude)> +/- \(horizontalAccuracy)m @ \(timestamp)"
    }
}
