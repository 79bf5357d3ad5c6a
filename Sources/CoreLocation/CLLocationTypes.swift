/// Degrees of latitude or longitude.
public typealias CLLocationDegrees = Double

/// Metres, as a distance or an altitude.
public typealias CLLocationDistance = Double

/// Metres, as a radius of uncertainty; negative when the value it belongs to is not known.
public typealias CLLocationAccuracy = Double

/// Metres per second; negative when not known.
public typealias CLLocationSpeed = Double

/// Degrees clockwise from north; negative when not known.
public typealias CLLocationDirection = Double
