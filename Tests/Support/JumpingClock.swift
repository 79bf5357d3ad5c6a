import Synchronization

/// A clock on which every wait is over at once, and which remembers the waits.
public final class JumpingClock: Clock {
    private let waits = Mutex<[Duration]>([])

    /// The time, which stands still.
    public let now = ContinuousClock.now

    /// Makes a clock.
    public init() {}

    /// Every wait that was asked for, in order.
    public var jumps: [Duration] { waits.withLock { $0 } }

    /// As fine as durations are.
    public var minimumResolution: Duration { .zero }

    /// Returns at once.
    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        waits.withLock { $0.append(now.duration(to: deadline)) }
    }
}
