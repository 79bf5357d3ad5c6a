import CloudKitWebClient
import Foundation

/// Time, chance, log and threads of an engine; a test may put its own in their place.
package struct SyncEngineEnvironment: Sendable {
    /// The time since a beginning that stays the same.
    package var now: @Sendable () -> Duration
    /// Waits until a time.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A number by chance, at least 0 and less than 1.
    package var chance: @Sendable () -> Double
    /// Takes what the engine put up with.
    package var log: @Sendable (String) -> Void
    /// Where the engine's tasks run; nil for where Swift runs tasks by itself.
    package var executor: (any TaskExecutor)?
    package var timing: SyncEngineTiming

    /// Makes an environment over a clock.
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

    /// Writes a line that says where it comes from.
    package static func writeToStandardError(_ message: String) {
        FileHandle.standardError.write(Data("CKSyncEngine: \(message)\n".utf8))
    }
}
