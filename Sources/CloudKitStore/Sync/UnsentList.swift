import Foundation
import GRDB
import Synchronization

/// A list of the unsent rows in a file beside the database, so that the loss can be reported after
/// the database was erased or deleted.
///
/// A short delay after a change the list is written again, without what was sent meanwhile; it is deleted when nothing
/// waits. In debug builds, whose migrations may erase the database, each change is also added before its write returns: the
/// process may be killed right after it. In others each write would pay for that.
final class UnsentList: Sendable {
    private struct State {
        var observation: (any DatabaseCancellable)?
        /// The task that writes the list while it lacks changes.
        var task: Task<Void, Never>?
        var isStale = false
        /// The newest version that the list has.
        var last: Int64 = 0
        /// The lines that were added since the rows were read for a new list.
        var added = Data()
    }

    /// The time that a change waits for others before the list is written again, so that an app that
    /// writes continuously does not rewrite it with each row.
    private static let delay = Duration.milliseconds(500)

    /// The maximum number of rows that are listed at a time.
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
        guard let url = url(of: writer), let data = try? Data(contentsOf: url) else { return [] }
        var rows: [RowChange] = []
        for line in data.split(separator: UInt8(ascii: "\n")) {
            // A line that was cut off is no row's.
            let listed = (try? JSONDecoder().decode([[String]].self, from: Data(line))) ?? []
            for row in listed where row.count == 3 {
                let key = RowKey(table: row[1], text: row[2])
                let change = RowChange(row[0] == "deleted" ? .deleted : .updated, key)
                // Of a row that changed again, the last line counts.
                rows.removeAll { $0.table == change.table && $0.key == change.key }
                rows.append(change)
            }
        }
        return rows
    }

    /// Starts following the outbox, with an up-to-date list.
    func start() async {
        guard url != nil else { return }
        let observation = TableObserver.observe("grdb_cloudkit_outbox", in: writer) {
            [weak self] database in
            self?.add(database)
        }
        state.withLock { $0.observation = observation }
        await write()
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

    /// Adds the rows of a transaction that has just been committed.
    private func add(_ database: Database) {
        guard let url else { return }
        state.withLock { state in
            #if DEBUG
            // Only apps that erase their database miss a list that cannot be written.
            if let (lines, last) = try? Self.lines(database, after: state.last) {
                state.last = last
                state.added += lines
                // The edits themselves are in the database.
                try? Self.append(lines, to: url)
            }
            #endif
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

    /// Returns the lines of the oldest rows after a version, and the newest version among them.
    private static func lines(
        _ database: Database,
        after last: Int64
    ) throws -> (lines: Data, last: Int64) {
        let statement = try database.cachedStatement(
            sql: """
                SELECT deleted, tbl, key, version FROM grdb_cloudkit_outbox
                WHERE version > ? ORDER BY version LIMIT ?
                """
        )
        let rows = try Row.fetchAll(statement, arguments: [last, limit])
        guard let newest = rows.last else { return (Data(), last) }
        let list = rows.map { [$0[0] ? "deleted" : "updated", $0[1] as String, $0[2] as String] }
        return (try JSONEncoder().encode(list) + Data("\n".utf8), newest[3])
    }

    #if DEBUG
    private static func append(_ lines: Data, to url: URL) throws {
        guard !lines.isEmpty else { return }
        guard FileManager.default.fileExists(atPath: url.path) else {
            return try lines.write(to: url)
        }
        let file = try FileHandle(forWritingTo: url)
        try file.seekToEnd()
        try file.write(contentsOf: lines)
        try file.close()
    }
    #endif

    /// Returns whether there are changes to write; otherwise marks the task as finished.
    private func begin() -> Bool {
        state.withLock { state in
            if !state.isStale { state.task = nil }
            return exchange(&state.isStale, with: false)
        }
    }

    /// Writes the whole list.
    private func write() async {
        guard let url else { return }
        // What is added while the rows are read may be missing among them.
        state.withLock { $0.added = Data() }
        // Only apps that erase their database miss a list that cannot be written.
        let read = try? await writer.read { try Self.lines($0, after: 0) }
        guard let (lines, last) = read else { return }
        state.withLock { state in
            state.last = max(state.last, last)
            let list = lines + state.added
            // The list only serves a report; without it, losses are reported without names.
            if list.isEmpty {
                try? FileManager.default.removeItem(at: url)
            } else {
                try? list.write(to: url, options: .atomic)
            }
        }
    }
}
