import Synchronization

/// A clock on which every wait ends immediately, and which remembers the waits.
public final class JumpingClock: Clock {
    private let waits = Mutex<[Duration]>([])

    /// The time, which stands still.
    public let now = ContinuousClock.now

    /// Creates a clock.
    public init() {}

    /// All requested waits, in order.
    public var jumps: [Duration] { waits.withLock { $0 } }

    /// The resolution of durations.
    public var minimumResolution: Duration { .zero }

    /// Returns immediately.
    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        waits.withLock { $0.append(now.duration(to: deadline)) }
    }
}
