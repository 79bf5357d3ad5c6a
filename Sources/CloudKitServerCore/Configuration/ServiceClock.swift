import Synchronization

/// The service's only source of time.
public protocol ServiceClock: Sendable {
    /// The time in milliseconds since 1970-01-01 UTC.
    var milliseconds: Int64 { get }
}

/// A clock that can be moved forward, so that tests need not wait for days to pass.
///
/// ```swift
/// let clock = VirtualClock()
/// clock.advance(by: .seconds(15 * 24 * 60 * 60))
/// ```
public final class VirtualClock: ServiceClock {
    private let base: (any ServiceClock)?
    private let added: Mutex<Int64>

    /// Creates a clock that is stopped until it is moved.
    ///
    /// - Parameter milliseconds: The initial time, since 1970-01-01 UTC; by default the start of 2026.
    public init(startingAt milliseconds: Int64 = 1_767_225_600_000) {
        base = nil
        added = Mutex(milliseconds)
    }

    /// Creates a clock that follows another one, and runs ahead of it once it was moved.
    public init(following base: any ServiceClock) {
        self.base = base
        added = Mutex(0)
    }

    /// The time in milliseconds since 1970-01-01 UTC.
    public var milliseconds: Int64 { (base?.milliseconds ?? 0) + added.withLock { $0 } }

    /// Moves the clock forward; a duration that is negative or exceeds a thousand years has no effect.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        guard (0..<31_557_600_000).contains(seconds) else { return }
        added.withLock { $0 += seconds * 1000 + attoseconds / 1_000_000_000_000_000 }
    }
}
