import CloudKitWire
import Synchronization

/// Limits how many potentially slow requests run at a time, so that threads and connections remain
/// for the others.
///
/// A waiting request occupies no thread. A caller gets at most half of the slots.
final class SlowLane: Sendable {
    private struct State {
        var running: [Int64?: Int] = [:]
        var count = 0
        var waiting: [(user: Int64?, CheckedContinuation<Void, Never>)] = []
    }

    private let width: Int
    private let line: Int
    private let state = Mutex(State())

    /// Creates a lane with limits on the running and on the waiting requests.
    init(width: Int, line: Int) {
        self.width = width
        self.line = line
    }

    /// Runs a request of a user when there is a free slot.
    ///
    /// - Throws: `RequestError` with `TRY_AGAIN_LATER` when too many wait, or an error of the closure.
    func run<Value>(for user: Int64?, _ body: () async throws -> Value) async throws -> Value {
        try await enter(user)
        defer { leave(user) }
        return try await body()
    }

    private func enter(_ user: Int64?) async throws(RequestError) {
        let isFull = state.withLock { state in
            state.waiting.count >= line && !self.isFree(for: user, state)
        }
        if isFull {
            throw RequestError(
                .tryAgainLater,
                reason: "Too many requests of this kind are waiting",
                retryAfter: 5
            )
        }
        await withCheckedContinuation { continuation in
            let starts = state.withLock { state in
                guard isFree(for: user, state) else {
                    state.waiting.append((user, continuation))
                    return false
                }
                start(user, &state)
                return true
            }
            if starts { continuation.resume() }
        }
    }

    private func leave(_ user: Int64?) {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.count -= 1
            let left = (state.running[user] ?? 1) - 1
            state.running[user] = left == 0 ? nil : left
            guard let place = state.waiting.firstIndex(where: { isFree(for: $0.user, state) })
            else { return nil }
            let next = state.waiting.remove(at: place)
            start(next.user, &state)
            return next.1
        }
        next?.resume()
    }

    private func isFree(for user: Int64?, _ state: State) -> Bool {
        state.count < width && (state.running[user] ?? 0) < max(1, width / 2)
    }

    private func start(_ user: Int64?, _ state: inout State) {
        state.count += 1
        state.running[user, default: 0] += 1
    }
}
