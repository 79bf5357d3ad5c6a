import CloudKitServerCore
import GRDB
import Synchronization

/// Runs waiting writes in one transaction, so that they share the wait for the disk.
///
/// A failed write is undone alone: the transaction is then repeated, with a savepoint for each
/// write, so that a write other than the failed one may run twice. No write reports success before
/// the transaction is durable.
///
/// Slow writes have transactions of their own, which alternate with the others. Rows that writes
/// discarded are removed in steps when no write waits, and from time to time if writes always wait.
final class GroupCommit: Sendable {
    /// A waiting write.
    private struct Job: Sendable {
        let run: @Sendable (SQLiteConnection) throws -> Void
        let finish: @Sendable ((any Error)?) -> Void
    }

    private struct Queue {
        var waiting: [Job] = []
        /// The jobs that do not share their transaction.
        var alone: [Job] = []
        var wasAlone = false
        var isRunning = false
        /// `true` when there may be discarded rows to remove, and when a step of the removal waits.
        var mayHaveDiscarded = false
        var isRemoving = false

        /// Returns the jobs of the next transaction; empty if none waits.
        mutating func next(_ size: Int) -> [Job] {
            wasAlone = !alone.isEmpty && (waiting.isEmpty || !wasAlone)
            if wasAlone { return [alone.removeFirst()] }
            let group = Array(waiting.prefix(size))
            waiting.removeFirst(group.count)
            return group
        }
    }

    private let database: any DatabaseWriter
    /// The maximum number of writes that share one transaction.
    private let size: Int
    private let queue = Mutex(Queue())
    /// The number of transactions between two steps of the removal.
    private static let removalPace = 16

    private let noticed: DamageNote
    /// The database's file; nil in memory.
    private let path: String?

    init(
        _ database: any DatabaseWriter,
        size: Int,
        path: String?,
        mayHaveDiscarded: Bool,
        _ noticed: DamageNote
    ) {
        self.database = database
        self.noticed = noticed
        self.path = path
        self.size = size
        queue.withLock { $0.mayHaveDiscarded = mayHaveDiscarded }
    }

    /// The number of waiting jobs.
    var waitingCount: Int { queue.withLock { $0.waiting.count + $0.alone.count } }

    /// Runs a write; returns when it is durable.
    ///
    /// - Parameters:
    ///   - isAlone: `true` when it does not share its transaction.
    ///   - body: The write.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure, or `StorageError`.
    func run<Value: Sendable>(
        isAlone: Bool = false,
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = Outcome<Value>()
            add(
                Job(
                    run: { connection in outcome.set(try body(connection)) },
                    finish: { error in outcome.resume(continuation, error) }
                ),
                isAlone
            )
        }
    }

    private func add(_ job: Job, _ isAlone: Bool) {
        let starts = queue.withLock { queue in
            if isAlone { queue.alone.append(job) } else { queue.waiting.append(job) }
            defer { queue.isRunning = true }
            return !queue.isRunning
        }
        guard starts else { return }
        // One closure serves all jobs that wait, and those that come while it runs.
        database.asyncWriteWithoutTransaction { database in
            var count = 0
            while let group = self.takeGroup() {
                self.commit(group, database)
                count += 1
                if count.isMultiple(of: Self.removalPace) { self.removeSome(database) }
            }
            self.removeSoon()
        }
    }

    /// Begins to remove the rows that earlier writes discarded, if there are any.
    ///
    /// Nothing waits for the removal, and nothing is lost when it is interrupted: it continues
    /// after the next start.
    func removeSoon() {
        let starts = queue.withLock { queue in
            guard queue.mayHaveDiscarded, !queue.isRemoving else { return false }
            queue.isRemoving = true
            return true
        }
        guard starts else { return }
        // One step at a time, so that waiting writes come between them.
        database.asyncWriteWithoutTransaction { [weak self] database in
            guard let self else { return }
            let isDone = self.removeSome(database)
            self.queue.withLock { $0.isRemoving = false }
            if !isDone { self.removeSoon() }
        }
    }

    /// Removes some discarded rows; returns whether the removal is finished for now.
    ///
    /// If it fails, it is repeated after the next write.
    @discardableResult
    private func removeSome(_ database: Database) -> Bool {
        guard queue.withLock({ $0.mayHaveDiscarded }) else { return true }
        do {
            var hasMore = try SQLiteConnection(database).hasDiscarded()
            if hasMore { try transact(database) { hasMore = try $0.removeDiscarded() } }
            queue.withLock { $0.mayHaveDiscarded = hasMore }
            return !hasMore
        } catch {
            return true
        }
    }

    private func takeGroup() -> [Job]? {
        queue.withLock { queue in
            let group = queue.next(size)
            if group.isEmpty { queue.isRunning = false }
            return group.isEmpty ? nil : group
        }
    }

    private func commit(_ group: [Job], _ database: Database) {
        var errors: [(any Error)?]
        do {
            var first: [(any Error)?] = []
            do {
                try transact(database) { connection in
                    for job in group {
                        first.append(try Self.runPlainly(job, connection, database))
                    }
                }
                errors = first
            } catch let failure as MayHaveWritten {
                first.append(failure.error)
                errors = try runAgain(group, after: first, database)
            }
        } catch {
            noticed.add(error)
            errors = Array(repeating: StorageError(error, writing: path), count: group.count)
        }
        guard group.count > 1 else { return group[0].finish(errors[0]) }
        // Waking many tasks takes time, in which the next group can begin.
        Task { for (job, error) in zip(group, errors) { job.finish(error) } }
    }

    /// Runs jobs in one transaction; if it throws, nothing was changed.
    private func transact(
        _ database: Database,
        _ body: (SQLiteConnection) throws -> Void
    ) throws {
        do {
            // With the lock from the beginning, so that nothing that was read can be out of date at
            // the first write.
            try database.execute(cached: "BEGIN IMMEDIATE")
            let connection = SQLiteConnection(database)
            try body(connection)
            try database.execute(cached: "COMMIT")
            if connection.directory.hasDiscarded { queue.withLock { $0.mayHaveDiscarded = true } }
        } catch {
            // The error below is the one to report.
            if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") }
            throw error
        }
    }

    /// Runs jobs again, each in a savepoint, and returns their errors; `known` contains the results
    /// of the first ones.
    ///
    /// A job that failed fails again if all jobs before it end as they did, so it is not repeated:
    /// it may take long.
    private func runAgain(
        _ group: [Job],
        after known: [(any Error)?],
        _ database: Database
    ) throws -> [(any Error)?] {
        var errors: [(any Error)?] = []
        try transact(database) { connection in
            var isSame = true
            for (place, job) in group.enumerated() {
                let before = place < known.count ? known[place] : nil
                if isSame, let before, !(before is DatabaseError) {
                    errors.append(before)
                    continue
                }
                errors.append(try runInSavepoint(job, connection, database))
                if place < known.count, before != nil || errors[place] != nil { isSame = false }
            }
        }
        return errors
    }

    /// An error that is thrown when a failed job needs a savepoint, which is rare.
    private struct MayHaveWritten: Error {
        var error: any Error
    }

    /// Runs one job; returns its error, or throws if there are changes to undo.
    private static func runPlainly(
        _ job: Job,
        _ connection: SQLiteConnection,
        _ database: Database
    ) throws -> (any Error)? {
        let changes = database.totalChangesCount
        do {
            try job.run(connection)
            return nil
        } catch {
            // After an error of SQLite nobody knows what was written; a job that failed by itself
            // before it wrote needs no savepoint.
            guard !(error is DatabaseError), database.totalChangesCount == changes else {
                throw MayHaveWritten(error: error)
            }
            return error
        }
    }

    /// Runs one job; returns its error, or throws if the entire transaction is lost.
    private func runInSavepoint(
        _ job: Job,
        _ connection: SQLiteConnection,
        _ database: Database
    ) throws -> (any Error)? {
        try database.execute(cached: "SAVEPOINT job")
        do {
            try job.run(connection)
        } catch {
            // The cache may hold rows that are undone now.
            connection.directory.empty()
            // SQLite ends the entire transaction itself when the disk is full or fails.
            guard database.isInsideTransaction else { throw error }
            try database.execute(cached: "ROLLBACK TO job")
            try database.execute(cached: "RELEASE job")
            noticed.add(error)
            return error is DatabaseError ? StorageError(error) : error
        }
        try database.execute(cached: "RELEASE job")
        return nil
    }
}

/// Holds the result of a write until its transaction is durable.
private final class Outcome<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func set(_ value: Value) {
        self.value.withLock { $0 = value }
    }

    func resume(_ continuation: CheckedContinuation<Value, any Error>, _ error: (any Error)?) {
        if let error {
            continuation.resume(throwing: error)
        } else if let value = value.withLock({ $0 }) {
            continuation.resume(returning: value)
        } else {
            continuation.resume(throwing: StorageError(.other, "A write returned no result"))
        }
    }
}

extension Database {
    /// Runs a statement that is prepared once for each connection.
    func execute(cached sql: String) throws {
        try cachedStatement(sql: sql).execute()
    }

    /// Runs a closure that reads from one consistent state of the data.
    func snapshot<Value>(_ body: () throws -> Value) throws -> Value {
        try execute(cached: "BEGIN DEFERRED")
        // Nothing was written, so nothing is lost whichever of the two ends the transaction.
        defer {
            try? execute(cached: "COMMIT")
            if isInsideTransaction { try? execute(sql: "ROLLBACK") }
        }
        return try body()
    }
}
