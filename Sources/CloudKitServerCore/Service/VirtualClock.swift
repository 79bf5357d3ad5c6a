import Synchronization

/// A clock that can be moved forward, so that what takes days can be tested in no time.
///
/// ```swift
/// let clock = VirtualClock()
/// clock.advance(by: .seconds(15 * 24 * 60 * 60))
/// ```
public final class VirtualClock: ServiceClock {
    private let base: (any ServiceClock)?
    private let added: Mutex<Int64>

    /// Makes a clock that stands still until it is moved.
    ///
    /// - Parameter milliseconds: What it shows, since 1970-01-01 UTC; the start of 2026 unless given.
    public init(startingAt milliseconds: Int64 = 1_767_225_600_000) {
        base = nil
        added = Mutex(milliseconds)
    }

    /// Makes a clock that goes with another one, and ahead of it once it was moved.
    public init(following base: any ServiceClock) {
        self.base = base
        added = Mutex(0)
    }

    /// Milliseconds since 1970-01-01 UTC.
    public var milliseconds: Int64 { (base?.milliseconds ?? 0) + added.withLock { $0 } }

    /// Moves the clock forward; time that is negative or beyond a thousand years changes nothing.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        guard (0..<31_557_600_000).contains(seconds) else { return }
        added.withLock { $0 += seconds * 1000 + attoseconds / 1_000_000_000_000_000 }
    }
}
