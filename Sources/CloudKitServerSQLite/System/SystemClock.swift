public import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A clock that returns the machine's time.
public struct SystemClock: ServiceClock {
    /// Creates a clock.
    public init() {}

    /// The time in milliseconds since 1970-01-01 UTC.
    public var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
