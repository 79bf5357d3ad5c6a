import CloudKitWebClient
import Foundation

/// The clock, jitter, log and threads of an engine; a test can replace them.
package struct SyncEngineEnvironment: Sendable {
    /// A closure that returns the time since a fixed start.
    package var now: @Sendable () -> Duration
    /// A closure that waits until a time.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A closure that returns a random number for jitter, at least 0 and less than 1.
    package var chance: @Sendable () -> Double
    /// A closure that logs a condition that the engine tolerated.
    package var log: @Sendable (String) -> Void
    /// The executor of the engine's tasks; nil for Swift's default.
    package var executor: (any TaskExecutor)?
    package var timing: SyncEngineTiming

    /// Creates an environment with a clock.
    package init<C: Clock>(
        clock: C,
        chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        log: @escaping @Sendable (String) -> Void = SyncEngineEnvironment.writeToStandardError,
        executor: (any TaskExecutor)? = nil,
        timing: SyncEngineTiming = SyncEngineTiming()
    ) where C.Duration == Duration {
        let beginning = clock.now
        now = { beginning.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: beginning.advanced(by: $0), tolerance: nil) }
        self.chance = chance
        self.log = log
        self.executor = executor
        self.timing = timing
    }

    /// The environment of an app.
    package static let live = SyncEngineEnvironment(clock: DeadlineClock())

    /// Reports a mistake in the engine itself: traps in debug builds, and only logs in others, where
    /// an app is better off without the signal than without its process.
    package func reportMistake(_ message: String) {
        log("\(message); please report this")
        assertionFailure(message)
    }

    /// Writes a line with a prefix that names its source.
    package static func writeToStandardError(_ message: String) {
        FileHandle.standardError.write(Data("CKSyncEngine: \(message)\n".utf8))
    }
}
