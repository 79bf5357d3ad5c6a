import Foundation
import GRDB
import Synchronization

/// A list of the unsent rows in a file beside the database, so that the loss can be reported after
/// the database was erased or deleted.
///
/// The list follows the outbox after a short delay, and is deleted when nothing waits.
final class UnsentList: Sendable {
    private struct State {
        var observation: (any DatabaseCancellable)?
        /// The task that writes the list while it lacks changes.
        var task: Task<Void, Never>?
        var isStale = false
    }

    /// The time that a change waits for others before the list is written, so that an app that
    /// writes continuously does not rewrite it with each row.
    private static let delay = Duration.milliseconds(500)

    /// The maximum number of rows in the list.
    private static let limit = 1_000

    private let url: URL?
    private let writer: any DatabaseWriter
    private let state = Mutex(State())

    init(_ writer: any DatabaseWriter) {
        self.writer = writer
        url = Self.url(of: writer)
    }

    private static func url(of writer: any DatabaseWriter) -> URL? {
        SyncElection.path(of: writer)
            .map { URL(filePath: $0 + "-cloudkit-unsent", directoryHint: .notDirectory) }
    }

    /// Returns the rows in the list of a database.
    static func rows(of writer: any DatabaseWriter) -> [RowChange] {
        // Without a list that can be read, losses are reported without names.
        guard let url = url(of: writer), let data = try? Data(contentsOf: url),
            let rows = try? JSONDecoder().decode([[String]].self, from: data)
        else { return [] }
        return rows.compactMap { row in
            guard row.count == 3 else { return nil }
            let key = RowKey(table: row[1], text: row[2])
            return RowChange(row[0] == "deleted" ? .deleted : .updated, key)
        }
    }

    /// Starts following the outbox.
    func start() {
        guard url != nil else { return }
        let observation = TableObserver.observe("grdb_cloudkit_outbox", in: writer) { [weak self] in
            self?.refresh()
        }
        state.withLock { $0.observation = observation }
        refresh()
    }

    /// Stops following the outbox, with an up-to-date list.
    func stop() async {
        let (observation, task) = state.withLock { state in
            (exchange(&state.observation, with: nil), state.task)
        }
        guard let observation else { return }
        observation.cancel()
        // Ends the task's wait; its read is then refused, so the list is written here.
        task?.cancel()
        await task?.value
        await write()
    }

    private func refresh() {
        state.withLock { state in
            state.isStale = true
            guard state.task == nil else { return }
            state.task = Task(priority: .utility) { [weak self] in
                while true {
                    // Cancellation only ends the wait.
                    try? await Task.sleep(for: Self.delay)
                    guard let self, self.begin() else { return }
                    await self.write()
                }
            }
        }
    }

    /// Returns whether there are changes to write; otherwise marks the task as finished.
    private func begin() -> Bool {
        state.withLock { state in
            if !state.isStale { state.task = nil }
            return exchange(&state.isStale, with: false)
        }
    }

    private func write() async {
        guard let url else { return }
        // Only apps that erase their database miss a list that cannot be written.
        let rows = try? await writer.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT deleted, tbl, key FROM grdb_cloudkit_outbox ORDER BY version LIMIT ?",
                arguments: [Self.limit]
            ).map { [$0[0] ? "deleted" : "updated", $0[1] as String, $0[2] as String] }
        }
        guard let rows else { return }
        // The list only serves a report; without it, losses are reported without names.
        guard !rows.isEmpty, let data = try? JSONEncoder().encode(rows) else {
            try? FileManager.default.removeItem(at: url)
            return
        }
        // Without the list, losses are reported without names.
        try? data.write(to: url, options: .atomic)
    }
}
