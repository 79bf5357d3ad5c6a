import Synchronization

/// The state of an operation between its start and its end.
final class OperationState: Sendable {
    private struct State {
        var hasBegun = false
        var hasEnded = false
        var isCancelled = false
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    var isExecuting: Bool { state.withLock { $0.hasBegun && !$0.hasEnded } }
    var isFinished: Bool { state.withLock { $0.hasEnded } }

    /// Marks the start; returns false if the operation has started before.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
    }

    /// Stores the task that does the work, to cancel it on request.
    func own(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.task = nil
        }
    }
}
