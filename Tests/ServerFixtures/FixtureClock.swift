public import CloudKitServerCore
import Synchronization

/// A clock that stands still until a test moves it.
public final class FixtureClock: ServiceClock {
    private let now = Mutex<Int64>(1_767_225_600_000)
    private let step = Mutex<Int64>(0)

    public init() {}

    public var milliseconds: Int64 {
        let step = step.withLock { $0 }
        return now.withLock { now in
            defer { now += step }
            return now
        }
    }

    /// Advances the time by a number of milliseconds on every read.
    public func hurry(milliseconds: Int64) { step.withLock { $0 = milliseconds } }

    public func advance(seconds: Int64) {
        now.withLock { $0 += seconds * 1000 }
    }
}

/// Random bytes that are the same in every run.
public final class FixtureRandomness: ServiceRandomness {
    private let state: Mutex<UInt64>

    public init(seed: UInt64 = 1) {
        state = Mutex(seed)
    }

    public func bytes(_ count: Int) -> [UInt8] {
        state.withLock { state in
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
        }
    }
}
