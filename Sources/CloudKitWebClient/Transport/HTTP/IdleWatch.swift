import Synchronization

/// Ends an exchange in which no byte was sent or received for some time, however long it takes in
/// all.
final class IdleWatch: Sendable {
    private let limit: Duration?
    private let last = Mutex(ContinuousClock.now)

    /// Creates a watch that allows a number of seconds without a byte; infinity, and similar values,
    /// are no limit.
    init(_ seconds: Double) {
        limit = seconds < 1e9 ? .seconds(max(seconds, 0)) : nil
    }

    /// Notes that bytes were sent or received.
    func touch() { last.withLock { $0 = .now } }

    /// Performs work that notes its bytes.
    ///
    /// - Throws: Errors of `body`, and `TimedOut` when there was no byte for too long.
    func hold<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        guard let limit else { return try await body() }
        touch()
        return try await withThrowingTaskGroup(of: Success?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await self.wait(limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let success = first else { throw TimedOut() }
            return success
        }
    }

    /// An error that indicates that there was no byte for too long.
    struct TimedOut: Error {}

    private func wait(_ limit: Duration) async throws {
        while true {
            let end = last.withLock { $0 } + limit
            guard ContinuousClock.now < end else { return }
            try await DeadlineClock().sleep(until: end, tolerance: nil)
        }
    }
}
