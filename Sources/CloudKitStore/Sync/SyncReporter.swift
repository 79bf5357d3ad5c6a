import Synchronization

/// The reports of a channel to the store and the app: changed rows, progress and events.
final class SyncReporter: Sendable {
    private struct State {
        var summary = SyncSummary()
        var progress: SyncProgress?
    }

    private let state = Mutex(State())
    let onEvent: @Sendable (StoreEvent) -> Void
    private let publish: @Sendable ([RowChange]) -> Void
    private let statusChanged: @Sendable () -> Void

    init(
        onEvent: @escaping @Sendable (StoreEvent) -> Void,
        publish: @escaping @Sendable ([RowChange]) -> Void,
        statusChanged: @escaping @Sendable () -> Void
    ) {
        self.onEvent = onEvent
        self.publish = publish
        self.statusChanged = statusChanged
    }

    /// The fetch or send in flight; nil when there is none.
    var progress: SyncProgress? { state.withLock { $0.progress } }

    func began(_ direction: SyncProgress.Direction) {
        state.withLock { $0.progress = SyncProgress(direction: direction) }
        statusChanged()
        onEvent(.started)
    }

    func ended() {
        state.withLock { $0.progress = nil }
        statusChanged()
    }

    /// Counts completed items.
    func progressed(by count: Int) {
        guard count > 0 else { return }
        state.withLock { $0.progress?.done += count }
        statusChanged()
    }

    func received(_ all: [RowChange]) {
        // The journal is not a table of the app's.
        let changes = all.filter { $0.table != SharedJournal.table }
        guard !changes.isEmpty else { return }
        state.withLock { $0.summary.received += changes }
        publish(changes)
    }

    func sent(saved: Int, deleted: Int, isOverQuota: Bool) {
        state.withLock {
            $0.summary.saved += saved
            $0.summary.deleted += deleted
            if isOverQuota { $0.summary.isOverQuota = true }
        }
        progressed(by: saved + deleted)
    }

    /// Reports rows that lost to others with their UNIQUE values.
    func replacedByDuplicate(_ keys: [RowKey]) {
        for key in keys { onEvent(.replacedByDuplicate(table: key.table, key: key.text)) }
    }

    /// Reports rows with changes that are in the journal because the user may not make them.
    func editsRefused(_ keys: [RowKey]) {
        for key in keys { onEvent(.editsRefused(table: key.table, key: key.text)) }
    }

    /// Returns and resets the summary of the changes since the last call.
    func takeSummary() -> SyncSummary {
        state.withLock { state in
            defer { state.summary = SyncSummary() }
            return state.summary
        }
    }
}
