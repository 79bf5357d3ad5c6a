import Synchronization

/// Limits the requests to a server to the number of connections, in the order of arrival.
///
/// A request therefore waits here and not in the HTTP client's pool, where the time would count as
/// the server's.
final class ConnectionGate: Sendable {
    /// Active and waiting requests to one server.
    private struct Line {
        var out = 0
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private struct State {
        var lines: [String: Line] = [:]
        var lastID: UInt64 = 0
    }

    /// The maximum number of simultaneous requests to one server.
    let width: Int

    private let state = Mutex(State())

    init(width: Int) {
        self.width = max(width, 1)
    }

    /// Performs work when its turn comes.
    ///
    /// - Throws: Errors of `body`, and `unreachable` when its turn did not come in time.
    func pass<Success: Sendable>(
        to server: String,
        waiting seconds: Double,
        _ body: () async throws -> Success
    ) async throws -> Success {
        try await enter(server, seconds)
        defer { leave(server) }
        return try await body()
    }

    private func enter(_ server: String, _ seconds: Double) async throws {
        let (id, isOut) = state.withLock { state in
            state.lastID += 1
            let isOut = state.lines[server, default: Line()].out < width
            if isOut { state.lines[server, default: Line()].out += 1 }
            return (state.lastID, isOut)
        }
        if isOut { return }
        let late = TransportError(
            .unreachable,
            message:
                "No connection to \(server) became free in \(seconds) seconds: \(width) are in "
                + "use; give HTTPTransport more of them, or more time"
        )
        let alarm =
            seconds < 1e9
            ? DeadlineQueue.shared.schedule(at: .now + .seconds(max(seconds, 0))) {
                self.giveUp(id, server, late)
            } : nil
        defer { if let alarm { DeadlineQueue.shared.cancel(alarm) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, id, server) }
        } onCancel: {
            giveUp(id, server, CancellationError())
        }
    }

    private func wait(
        _ continuation: CheckedContinuation<Void, any Error>,
        _ id: UInt64,
        _ server: String
    ) {
        let result = state.withLock { state -> Result<Void, any Error>? in
            // A later cancellation finds the continuation in the line.
            if Task.isCancelled { return .failure(CancellationError()) }
            if state.lines[server, default: Line()].out < width {
                state.lines[server, default: Line()].out += 1
                return .success(())
            }
            state.lines[server, default: Line()].waiting.append((id, continuation))
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    private func giveUp(_ id: UInt64, _ server: String, _ error: any Error) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard let place = state.lines[server]?.waiting.firstIndex(where: { $0.id == id }) else {
                return nil
            }
            return state.lines[server]?.waiting.remove(at: place).continuation
        }
        continuation?.resume(throwing: error)
    }

    private func leave(_ server: String) {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard var line = state.lines[server] else { return nil }
            // The next request takes over the place.
            let next = line.waiting.isEmpty ? nil : line.waiting.removeFirst().continuation
            if next == nil { line.out -= 1 }
            state.lines[server] = line.out == 0 && line.waiting.isEmpty ? nil : line
            return next
        }
        next?.resume()
    }
}
