import Synchronization

/// A clock that stands still until a test moves it, and knows its sleepers.
final class VirtualClock: Clock {
    struct Instant: InstantProtocol {
        var time: Duration

        func advanced(by duration: Duration) -> Self { Self(time: time + duration) }
        func duration(to other: Self) -> Duration { other.time - time }
        static func < (left: Self, right: Self) -> Bool { left.time < right.time }
    }

    private struct Sleeper {
        var time: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        var lastSleeper = 0
        var sleeps: [Duration] = []
    }

    private let state = Mutex(State())

    var now: Instant { Instant(time: state.withLock { $0.now }) }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// The times of all sleeps, in the order of the requests.
    var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// The time when the next sleeper wakes; nil when there is none.
    var next: Duration? { state.withLock { $0.sleepers.values.map(\.time).min() } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastSleeper += 1
            state.sleeps.append(deadline.time)
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    guard !Task.isCancelled, deadline.time > state.now else { return true }
                    state.sleepers[id] = Sleeper(time: deadline.time, continuation: continuation)
                    return false
                }
                guard isOver else { return }
                continuation.resume(
                    with: Task.isCancelled ? .failure(CancellationError()) : .success(())
                )
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the time, and wakes the sleepers that are due, earliest first.
    func advance(to time: Duration) {
        let due = state.withLock { state in
            state.now = max(state.now, time)
            let due = state.sleepers.filter { $0.value.time <= state.now }
                .sorted { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
            for (id, _) in due { state.sleepers[id] = nil }
            return due
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
    }
}
