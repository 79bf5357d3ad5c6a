import Dispatch
import Synchronization

/// One timer for everything that the process waits for.
///
/// A task that sleeps leaves its timer behind until its time has come, even when it was cancelled
/// long before; an operation may wait for a week. Cancelled actions of this queue are removed.
package final class DeadlineQueue: Sendable {
    /// The queue of the process.
    package static let shared = DeadlineQueue()

    private struct State {
        var heap = DeadlineHeap<ContinuousClock.Instant, @Sendable () -> Void>()
        /// The time when the timer next fires.
        var alarm: ContinuousClock.Instant?
        var timer: (any DispatchSourceTimer)?
    }

    private let state = Mutex(State())

    /// The number of waiting actions, and of stored times.
    package var load: (count: Int, room: Int) { state.withLock { ($0.heap.count, $0.heap.room) } }

    /// Performs an action at a time, on a thread of the queue; it must not take long.
    func schedule(
        at time: ContinuousClock.Instant,
        _ action: @escaping @Sendable () -> Void
    ) -> DeadlineHeap<ContinuousClock.Instant, @Sendable () -> Void>.ID {
        state.withLock { state in
            let id = state.heap.insert(action, at: time)
            arm(&state)
            return id
        }
    }

    /// Cancels an action that was not performed yet.
    func cancel(_ id: UInt64) {
        // The action's captured values are released outside the lock.
        let action = state.withLock { $0.heap.remove(id) }
        withExtendedLifetime(action) {}
    }

    private func fire() {
        let due = state.withLock { state in
            state.alarm = nil
            let due = state.heap.due(at: .now)
            arm(&state)
            return due
        }
        for action in due { action() }
    }

    /// Sets the timer, unless it already fires early enough.
    private func arm(_ state: inout State) {
        guard let first = state.heap.first else { return }
        if let alarm = state.alarm, alarm <= first { return }
        state.alarm = first
        // The timer's clock may stop while the machine sleeps: it checks once an hour.
        let wait = min(max(ContinuousClock.now.duration(to: first), .zero), .seconds(3600))
        let (seconds, attoseconds) = wait.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        let timer = state.timer ?? makeTimer()
        state.timer = timer
        timer.schedule(deadline: .now() + .nanoseconds(nanoseconds))
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let queue = DispatchQueue(label: "CloudKit.deadlines")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { self.fire() }
        timer.resume()
        return timer
    }
}
