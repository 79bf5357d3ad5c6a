/// How long an engine waits, when it decides for itself.
package struct SyncEngineTiming: Hashable, Sendable {
    /// Between a pending change and its sending, so that changes made together go together.
    package var sendDelay: Duration = .milliseconds(100)
    /// Before the first repetition of what failed; each doubles the last.
    package var firstRetry: Duration = .seconds(1)
    /// What a repetition never waits longer than, unless the service asks for it.
    package var longestRetry: Duration = .seconds(300)

    package init() {}
}

/// The waits between repetitions of what fails: growing, and spread by chance, so that many devices
/// do not come back at the same time.
struct Backoff: Hashable, Sendable {
    private(set) var failures = 0

    /// How long to wait after one more failure; `chance` lies between 0 and 1.
    mutating func next(_ timing: SyncEngineTiming, chance: Double) -> Duration {
        failures += 1
        let growing = timing.firstRetry * (1 << min(failures - 1, 20))
        let whole = min(growing, timing.longestRetry)
        return whole / 2 + (whole / 2) * chance
    }

    mutating func reset() { failures = 0 }
}
