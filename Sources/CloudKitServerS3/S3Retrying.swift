#if S3
/// The rule by which requests are repeated.
package struct S3Retrying: Sendable {
    /// The most attempts at a request.
    package var attempts = 6
    /// The time after which no further attempt begins.
    package var budget: Duration = .seconds(20)
    /// Returns the time since some moment.
    package var now: @Sendable () -> Duration
    /// Waits before another attempt, whose number is from 1.
    package var wait: @Sendable (_ attempt: Int) async throws -> Void

    /// Creates the usual rule.
    package init() {
        let start = ContinuousClock.now
        now = { start.duration(to: .now) }
        wait = { try await Task.sleep(for: Self.pause($0, Double.random(in: 0.5...1))) }
    }

    /// Returns the pause before an attempt: from a tenth of a second, twice as long each time, at most 5 seconds.
    package static func pause(_ attempt: Int, _ jitter: Double) -> Duration {
        .seconds(min(5, 0.1 * Double(1 << min(attempt - 1, 10))) * jitter)
    }

    /// Runs an operation until it succeeds, fails for good, or the attempts or the time are used up.
    package func run<Result>(
        _ operation: () async throws -> Result
    ) async throws -> Result {
        let end = now() + budget
        var attempt = 1
        while true {
            do {
                return try await operation()
            } catch let failure as S3Failure where failure.isTransient {
                guard attempt < attempts, now() < end else { throw failure }
            }
            try await wait(attempt)
            attempt += 1
        }
    }
}
#endif
