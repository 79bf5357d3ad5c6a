import Dispatch
import Synchronization

/// One timer for all that the process waits for.
///
/// A task that sleeps leaves its timer behind until its time has come, also when it was cancelled
/// long before; an operation may wait for a week. What is taken back from this queue is gone.
package final class DeadlineQueue: Sendable {
    /// The queue of the process.
    package static let shared = DeadlineQueue()

    private struct State {
        var heap = DeadlineHeap<ContinuousClock.Instant, @Sendable () -> Void>()
        /// When the timer fires next.
        var alarm: ContinuousClock.Instant?
        var timer: (any DispatchSourceTimer)?
    }

    private let state = Mutex(State())

    /// How many actions wait, and how much is kept for them.
    package var load: (count: Int, room: Int) { state.withLock { ($0.heap.count, $0.heap.room) } }

    /// Does something at a time, on a thread of the queue; it must not take long.
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

    /// Takes an action back that was not done yet.
    func cancel(_ id: UInt64) {
        // What the action holds is let go outside the lock.
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

    /// Sets the timer, where it does not fire early enough already.
    private func arm(_ state: inout State) {
        guard let first = state.heap.first else { return }
        if let alarm = state.alarm, alarm <= first { return }
        state.alarm = first
        // The timer's clock may stand still while the machine sleeps: it looks once an hour.
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
