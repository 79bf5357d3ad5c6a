import Synchronization

/// The port of a server, which any number of callers can await.
final class BoundAddress: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Int, any Error>])
        case done(Result<Int, any Error>)
    }

    private let state = Mutex(State.waiting([]))

    /// Returns the port as soon as it is known.
    func port() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<Int, any Error>? in
                switch state {
                case .done(let result): return result
                case .waiting(let waiters):
                    state = .waiting(waiters + [continuation])
                    return nil
                }
            }
            if let result { continuation.resume(with: result) }
        }
    }

    /// Sets the port and resumes the waiting callers.
    func set(_ port: Int) { finish(.success(port)) }

    /// Fails the waiting callers; has no effect once the port is set.
    func fail(_ error: any Error) { finish(.failure(error)) }

    private func finish(_ result: Result<Int, any Error>) {
        let waiters = state.withLock { state -> [CheckedContinuation<Int, any Error>] in
            guard case .waiting(let waiters) = state else { return [] }
            state = .done(result)
            return waiters
        }
        for waiter in waiters { waiter.resume(with: result) }
    }
}
