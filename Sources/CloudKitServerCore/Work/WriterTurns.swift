import CloudKitWire
import Synchronization

/// Prevents slow commits from delaying those of others.
///
/// Commits share transactions, so that small commits would wait for large ones. A commit that turns
/// out long is undone and repeated in a turn of its own, of which each user has one at a time; the
/// engine lets other commits pass between two turns. After a turn, a user's commits skip the first
/// attempt for a while. After a failed turn, the user must wait four times as long as it took.
final class WriterTurns: Sendable {
    private struct State {
        /// The times until which users are considered slow.
        var slowUntil: [Int64: Int64] = [:]
        /// The times until which users must wait after a failed turn.
        var refusedUntil: [Int64: Int64] = [:]
    }

    /// The number of milliseconds for which a user is considered slow.
    private static let memory: Int64 = 30_000
    /// The number of users above which expired entries are removed.
    private static let tidySize = 1000

    private let clock: any ServiceClock
    private let lane: SlowLane
    private let state = Mutex(State())

    init(_ clock: any ServiceClock) {
        self.clock = clock
        lane = SlowLane(width: 2, line: 1000)
    }

    /// Returns whether a user's commits immediately get turns of their own.
    func isSlow(_ user: Int64) -> Bool {
        guard let end = state.withLock({ $0.slowUntil[user] }) else { return false }
        return clock.milliseconds < end
    }

    /// Runs a user's commit when it is its turn.
    ///
    /// - Throws: `RequestError` with `TRY_AGAIN_LATER` if the user must wait, or an error of the closure.
    func run<Value>(for user: Int64, _ body: () async throws -> Value) async throws -> Value {
        note(user, \.slowUntil, Self.memory)
        return try await lane.run(for: user) {
            try checkMayWrite(user)
            let start = clock.milliseconds
            do {
                return try await body()
            } catch let error as StorageError {
                // An outage is not the user's fault.
                throw error
            } catch {
                // The absence of a user stands for many callers of an environment.
                if user > 0 { note(user, \.refusedUntil, 4 * (clock.milliseconds - start)) }
                throw error
            }
        }
    }

    private func checkMayWrite(_ user: Int64) throws(RequestError) {
        guard let end = state.withLock({ $0.refusedUntil[user] }) else { return }
        let left = end - clock.milliseconds
        guard left > 0 else { return }
        throw RequestError(
            .tryAgainLater,
            reason: "A long request to write failed a moment ago; do less in one request",
            retryAfter: Double(left / 1000 + 1)
        )
    }

    private func note(
        _ user: Int64,
        _ times: any WritableKeyPath<State, [Int64: Int64]> & Sendable,
        _ milliseconds: Int64
    ) {
        let now = clock.milliseconds
        state.withLock { state in
            state[keyPath: times][user] = now + milliseconds
            guard state[keyPath: times].count > Self.tidySize else { return }
            state[keyPath: times] = state[keyPath: times].filter { $0.value > now }
        }
    }
}
