import Dispatch
import Synchronization

/// Runs an app's closures one after the other, on threads that all operations share.
///
/// It is not a dispatch queue, because each busy queue takes a thread of its own; and it does not
/// use Swift's threads, because an app's closure may block.
final class CallbackQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Runs a closure after those that were added before.
    func add(_ block: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(block)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { DispatchQueue.global().async { self.run() } }
    }

    private func run() {
        while true {
            let blocks = state.withLock { state -> [@Sendable () -> Void] in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isRunning = false }
                return state.waiting
            }
            guard !blocks.isEmpty else { return }
            for block in blocks { block() }
        }
    }
}
