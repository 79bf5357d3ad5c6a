import CloudKitWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

extension WireValue {
    /// Metres; the mean radius.
    static let earthRadius = 6_371_008.8

    /// Metres on the great circle between two locations; infinite for other values.
    func distance(to other: WireValue) -> Double {
        guard case .location(let first) = self, case .location(let second) = other else {
            return .infinity
        }
        let radians = Double.pi / 180
        let latitudes = sin((second.latitude - first.latitude) * radians / 2)
        let longitudes = sin((second.longitude - first.longitude) * radians / 2)
        let shrinking = cos(first.latitude * radians) * cos(second.latitude * radians)
        let half = latitudes * latitudes + shrinking * longitudes * longitudes
        return 2 * Self.earthRadius * asin(min(1, half.squareRoot()))
    }
}
