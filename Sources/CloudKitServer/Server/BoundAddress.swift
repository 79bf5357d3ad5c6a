import Synchronization

/// The port of a server, once for many waiters.
final class BoundAddress: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Int, any Error>])
        case done(Result<Int, any Error>)
    }

    private let state = Mutex(State.waiting([]))

    /// The port, as soon as it is known.
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

    /// Tells the port.
    func set(_ port: Int) { finish(.success(port)) }

    /// Tells that there will be none; without effect when the port was told.
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
