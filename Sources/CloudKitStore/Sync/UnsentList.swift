import Foundation
import GRDB
import Synchronization

/// Keeps a list of the rows that wait to be sent in a file beside the database, so that one whose
/// database was erased or deleted can be told what went with it.
///
/// The list follows the outbox a moment later, and is gone when nothing waits.
final class UnsentList: Sendable {
    private struct State {
        var observation: (any DatabaseCancellable)?
        /// Writes the list, as long as there are changes that it does not have.
        var task: Task<Void, Never>?
        var isStale = false
    }

    /// How long a change waits for others before the list is written: an app that writes all the time
    /// would have it written with each row.
    private static let delay = Duration.milliseconds(500)

    /// The most rows in the list.
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

    /// The rows in the list of a database.
    static func rows(of writer: any DatabaseWriter) -> [RowChange] {
        guard let url = url(of: writer), let data = try? Data(contentsOf: url),
            let rows = try? JSONDecoder().decode([[String]].self, from: data)
        else { return [] }
        return rows.compactMap { row in
            guard row.count == 3 else { return nil }
            let key = RowKey(table: row[1], text: row[2])
            return RowChange(row[0] == "deleted" ? .deleted : .updated, key)
        }
    }

    /// Begins to follow the outbox.
    func start() {
        guard url != nil else { return }
        let observation = DatabaseRegionObservation(tracking: Table("grdb_cloudkit_outbox"))
            .start(in: writer) { _ in
                // The observation ends with the database.
            } onChange: { [weak self] _ in
                self?.refresh()
            }
        state.withLock { $0.observation = observation }
        refresh()
    }

    /// Stops to follow it, with the list as it is then.
    func stop() async {
        let (observation, task) = state.withLock { state in
            (exchange(&state.observation, with: nil), state.task)
        }
        guard let observation else { return }
        observation.cancel()
        // Ends its wait; what it reads then is refused, so the list is written here.
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
                    try? await Task.sleep(for: Self.delay)
                    guard let self, self.begin() else { return }
                    await self.write()
                }
            }
        }
    }

    /// Whether there is something to write; if not, the task is over.
    private func begin() -> Bool {
        state.withLock { state in
            if !state.isStale { state.task = nil }
            return exchange(&state.isStale, with: false)
        }
    }

    private func write() async {
        guard let url else { return }
        // A list that cannot be written is missed by those alone who erase their database.
        let rows = try? await writer.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT deleted, tbl, key FROM grdb_cloudkit_outbox ORDER BY version LIMIT ?",
                arguments: [Self.limit]
            ).map { [$0[0] ? "deleted" : "updated", $0[1] as String, $0[2] as String] }
        }
        guard let rows else { return }
        guard !rows.isEmpty, let data = try? JSONEncoder().encode(rows) else {
            try? FileManager.default.removeItem(at: url)
            return
        }
        try? data.write(to: url, options: .atomic)
    }
}
