/// The waits of an engine's automatic operations.
package struct SyncEngineTiming: Hashable, Sendable {
    /// The wait between a pending change and sending it, by which simultaneous changes share a
    /// batch.
    package var sendDelay: Duration = .milliseconds(100)
    /// The wait before the first retry after a failure; each further wait is twice as long.
    package var firstRetry: Duration = .seconds(1)
    /// The maximum wait before a retry, unless the service requests a longer one.
    package var longestRetry: Duration = .seconds(300)

    package init() {}
}

/// The waits between retries: they grow, with jitter, because many devices should not return at the
/// same time.
struct Backoff: Hashable, Sendable {
    private(set) var failures = 0

    /// Returns the wait after one more failure; `chance` is between 0 and 1.
    mutating func next(_ timing: SyncEngineTiming, chance: Double) -> Duration {
        failures += 1
        let growing = timing.firstRetry * (1 << min(failures - 1, 20))
        let whole = min(growing, timing.longestRetry)
        return whole / 2 + (whole / 2) * chance
    }

    mutating func reset() { failures = 0 }
}
