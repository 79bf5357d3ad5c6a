#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#elseif canImport(Android)
import Android
#elseif canImport(ucrt)
import ucrt
#endif

extension WireLocation {
    /// The earth's mean radius in metres.
    package static let earthRadius = 6_371_008.8

    /// Returns the great-circle distance to another location in metres; the service and predicates
    /// in memory share this formula.
    package func distance(to other: WireLocation) -> Double {
        let radians = Double.pi / 180
        let latitudes = sin((other.latitude - latitude) * radians / 2)
        let longitudes = sin((other.longitude - longitude) * radians / 2)
        let shrinking = cos(latitude * radians) * cos(other.latitude * radians)
        let half = latitudes * latitudes + shrinking * longitudes * longitudes
        return 2 * Self.earthRadius * asin(min(1, half.squareRoot()))
    }
}
