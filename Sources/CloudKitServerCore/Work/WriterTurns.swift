import CloudKitWire
import Synchronization

/// Keeps the commits of some that take long from holding up everybody's.
///
/// Commits share transactions, so that who writes little would wait for who writes much. One that turns
/// out long is undone and made again in a turn of its own, of which each user has one at a time; the
/// engine lets the others pass between two of them. Who has had one does without the first try for a
/// while, and whose turn was for nothing waits four times as long as it took.
final class WriterTurns: Sendable {
    private struct State {
        /// When users are believed again to write little.
        var slowUntil: [Int64: Int64] = [:]
        /// When users whose turn was for nothing may have another.
        var refusedUntil: [Int64: Int64] = [:]
    }

    /// How long a user is taken for one who writes much.
    private static let memory: Int64 = 30_000
    /// Users above which those are forgotten whose time is over.
    private static let tidySize = 1000

    private let clock: any ServiceClock
    private let lane: SlowLane
    private let state = Mutex(State())

    init(_ clock: any ServiceClock) {
        self.clock = clock
        lane = SlowLane(width: 2, line: 1000)
    }

    /// Whether a user's commits get turns of their own at once.
    func isSlow(_ user: Int64) -> Bool {
        guard let end = state.withLock({ $0.slowUntil[user] }) else { return false }
        return clock.milliseconds < end
    }

    /// Runs a user's commit when it is its turn.
    ///
    /// - Throws: `RequestError` with `TRY_AGAIN_LATER` where the user has to wait, or what the closure
    ///   throws.
    func run<Value>(for user: Int64, _ body: () async throws -> Value) async throws -> Value {
        note(user, \.slowUntil, Self.memory)
        return try await lane.run(for: user) {
            try checkMayWrite(user)
            let start = clock.milliseconds
            do {
                return try await body()
            } catch let error as StorageError {
                // An outage is no fault of the user's.
                throw error
            } catch {
                // Nobody of an environment stands for many.
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
