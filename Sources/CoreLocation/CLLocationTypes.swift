/// An angle of latitude or longitude, in degrees.
public typealias CLLocationDegrees = Double

/// A distance or an altitude, in metres.
public typealias CLLocationDistance = Double

/// A radius of uncertainty, in metres; negative when the value it belongs to is not known.
public typealias CLLocationAccuracy = Double

/// A speed in metres per second; negative when not known.
public typealias CLLocationSpeed = Double

/// A course in degrees clockwise from north; negative when not known.
public typealias CLLocationDirection = Double
