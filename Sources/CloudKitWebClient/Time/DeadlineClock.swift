import Synchronization

/// The clock of the system, with waits that leave nothing behind when they are cancelled.
package struct DeadlineClock: Clock {
    /// Creates the clock.
    package init() {}

    /// The current time.
    package var now: ContinuousClock.Instant { .now }

    /// The resolution of the system's clock.
    package var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// Waits until a time.
    package func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let sleeper = Sleeper()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper.start($0, until: deadline) }
        } onCancel: {
            sleeper.cancel()
        }
    }
}

/// One wait, which ends once: in time, or with its task.
private final class Sleeper: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Void, any Error>, deadline: UInt64?)
        case done
    }

    private let state = Mutex(State.new)

    func start(
        _ continuation: CheckedContinuation<Void, any Error>,
        until deadline: ContinuousClock.Instant
    ) {
        let isCancelled = state.withLock { state -> Bool in
            if case .done = state { return true }
            state = .waiting(continuation, deadline: nil)
            return false
        }
        guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
        let id = DeadlineQueue.shared.schedule(at: deadline) { self.end(.success(())) }
        let isOver = state.withLock { state -> Bool in
            guard case .waiting(let continuation, _) = state else { return true }
            state = .waiting(continuation, deadline: id)
            return false
        }
        if isOver { DeadlineQueue.shared.cancel(id) }
    }

    func cancel() { end(.failure(CancellationError())) }

    private func end(_ result: Result<Void, any Error>) {
        let before = state.withLock { state in
            defer { state = .done }
            return state
        }
        guard case .waiting(let continuation, let deadline) = before else { return }
        if let deadline { DeadlineQueue.shared.cancel(deadline) }
        continuation.resume(with: result)
    }
}
