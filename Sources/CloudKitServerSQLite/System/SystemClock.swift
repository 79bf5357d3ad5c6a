public import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The time of the machine.
public struct SystemClock: ServiceClock {
    /// Makes a clock.
    public init() {}

    /// Milliseconds since 1970-01-01 UTC.
    public var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
