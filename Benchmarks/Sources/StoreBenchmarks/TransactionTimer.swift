import BenchmarkHarness
import CloudKitStore
import GRDB
import Synchronization

/// Times the write transactions of a database, from when each holds the lock to when it commits.
///
/// COMMIT itself is measured beside it: most of its time is SQLite's checkpoint, which has released
/// the lock and waits for the disk, whoever else writes to that disk.
final class TransactionTimer: Sendable {
    private struct State {
        var begin: ContinuousClock.Instant?
        /// The end of the last statement within the transaction.
        var last: ContinuousClock.Instant?
        var longest = Duration.zero
        var longestCommit = Duration.zero
        var count = 0
    }

    private let state = Mutex(State())

    /// Returns a benchmark of the longest transaction of three first syncs, in milliseconds.
    static func longest(
        _ name: String,
        _ bar: Bar,
        firstSyncOf cloud: Prepared<StoreCloud>
    ) -> Benchmark {
        Benchmark(name: name, bar: bar) { _ in
            let cloud = try await cloud.value
            let timer = TransactionTimer()
            for _ in 0..<3 {
                let file = try DatabaseFile(timer.configuration)
                timer.reset()
                try await StoreDevice(cloud.container, file: file).store.sync()
            }
            return timer.state.withLock { state in
                Figure(
                    state.longest / .milliseconds(1),
                    detail: """
                        \(state.longest), the longest of \(state.count) transactions; the longest \
                        COMMIT \(state.longestCommit)
                        """
                )
            }
        }
    }

    var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            database.trace(options: .profile) { [weak self] in self?.note($0) }
        }
        return configuration
    }

    private func reset() { state.withLock { $0.begin = nil } }

    private func note(_ event: Database.TraceEvent) {
        guard case .profile(let statement, _) = event else { return }
        let sql = statement.sql
        let now = ContinuousClock.now
        state.withLock { state in
            if sql.hasPrefix("BEGIN IMMEDIATE") {
                state.begin = now
            } else if let begin = state.begin, let last = state.last, sql.hasPrefix("COMMIT") {
                state.longest = max(state.longest, begin.duration(to: last))
                state.longestCommit = max(state.longestCommit, last.duration(to: now))
                state.count += 1
                state.begin = nil
            }
            state.last = now
        }
    }
}
