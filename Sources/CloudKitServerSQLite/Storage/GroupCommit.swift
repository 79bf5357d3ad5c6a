import CloudKitServerCore
import GRDB
import Synchronization

/// Runs the writes that wait in one transaction, so that they share the wait for the disk.
///
/// One that fails is undone alone: the transaction is begun again then, with a savepoint for each, so
/// that a write may run twice, but for those that failed. None is told of its success before the
/// transaction is durable.
///
/// Writes that take long have transactions of their own, and take turns with the others. What writes
/// put out of reach is removed in steps when no write waits, and now and then where some always do.
final class GroupCommit: Sendable {
    /// One write that waits.
    private struct Job: Sendable {
        let run: @Sendable (SQLiteConnection) throws -> Void
        let finish: @Sendable ((any Error)?) -> Void
    }

    private struct Queue {
        var waiting: [Job] = []
        /// Those that share their transaction with nobody.
        var alone: [Job] = []
        var wasAlone = false
        var isRunning = false
        /// Whether there may be rows to remove that nobody can reach, and whether a step of that waits.
        var mayHaveDiscarded = false
        var isRemoving = false

        /// The jobs of the next transaction; none when nothing waits.
        mutating func next(_ size: Int) -> [Job] {
            wasAlone = !alone.isEmpty && (waiting.isEmpty || !wasAlone)
            if wasAlone { return [alone.removeFirst()] }
            let group = Array(waiting.prefix(size))
            waiting.removeFirst(group.count)
            return group
        }
    }

    private let database: any DatabaseWriter
    /// Writes that share one transaction at most.
    private let size: Int
    private let queue = Mutex(Queue())
    /// Transactions between which a step of the removal goes.
    private static let removalPace = 16

    init(_ database: any DatabaseWriter, size: Int, mayHaveDiscarded: Bool) {
        self.database = database
        self.size = size
        queue.withLock { $0.mayHaveDiscarded = mayHaveDiscarded }
    }

    /// Jobs that wait.
    var waitingCount: Int { queue.withLock { $0.waiting.count + $0.alone.count } }

    /// Runs a write; returns when it is durable.
    ///
    /// - Parameters:
    ///   - isAlone: Whether it shares its transaction with no other.
    ///   - body: The write.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws, or `StorageError`.
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

    /// Begins to remove what earlier writes put out of reach, where there is something.
    ///
    /// Nothing waits for that, and nothing is lost when it ends early: the next start goes on.
    func removeSoon() {
        let starts = queue.withLock { queue in
            guard queue.mayHaveDiscarded, !queue.isRemoving else { return false }
            queue.isRemoving = true
            return true
        }
        guard starts else { return }
        database.asyncWriteWithoutTransaction { [weak self] database in
            guard let self else { return }
            let isDone = self.removeSome(database)
            self.queue.withLock { $0.isRemoving = false }
            if !isDone { self.removeSoon() }
        }
    }

    /// Removes some rows that are out of reach; answers whether that is all for now.
    ///
    /// Where it fails, it is tried again after the next write.
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
            errors = Array(repeating: StorageError(error), count: group.count)
        }
        guard group.count > 1 else { return group[0].finish(errors[0]) }
        // Waking many takes a while, in which the next group can begin.
        Task { for (job, error) in zip(group, errors) { job.finish(error) } }
    }

    /// Runs jobs in one transaction; when it throws, nothing was done.
    private func transact(
        _ database: Database,
        _ body: (SQLiteConnection) throws -> Void
    ) throws {
        do {
            try database.execute(cached: "BEGIN IMMEDIATE")
            let connection = SQLiteConnection(database)
            try body(connection)
            try database.execute(cached: "COMMIT")
            if connection.directory.hasDiscarded { queue.withLock { $0.mayHaveDiscarded = true } }
        } catch {
            if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") }
            throw error
        }
    }

    /// Runs jobs once more, each in a savepoint, and answers their errors; `known` has how the first of
    /// them ended before.
    ///
    /// One that failed then fails again where all before it end as they did, so nobody has to wait
    /// for that: a job may have spent long on it.
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
                errors.append(try Self.runInSavepoint(job, connection, database))
                if place < known.count, before != nil || errors[place] != nil { isSame = false }
            }
        }
        return errors
    }

    /// A job failed that needs a savepoint, which few do.
    private struct MayHaveWritten: Error {
        var error: any Error
    }

    /// Runs one job; answers its error, or throws when there is something to undo.
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
            guard !(error is DatabaseError), database.totalChangesCount == changes else {
                throw MayHaveWritten(error: error)
            }
            return error
        }
    }

    /// Runs one job; answers its error, or throws when the whole transaction is lost.
    private static func runInSavepoint(
        _ job: Job,
        _ connection: SQLiteConnection,
        _ database: Database
    ) throws -> (any Error)? {
        try database.execute(cached: "SAVEPOINT job")
        do {
            try job.run(connection)
        } catch {
            connection.directory.empty()
            // SQLite ends the whole transaction by itself when the disk is full or fails.
            guard database.isInsideTransaction else { throw error }
            try database.execute(cached: "ROLLBACK TO job")
            try database.execute(cached: "RELEASE job")
            return error is DatabaseError ? StorageError(error) : error
        }
        try database.execute(cached: "RELEASE job")
        return nil
    }
}

/// Holds what a write answered until its transaction is durable.
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
            continuation.resume(throwing: StorageError(.other, "A write answered nothing"))
        }
    }
}

extension Database {
    /// Runs a statement that is prepared once for each connection.
    func execute(cached sql: String) throws {
        try cachedStatement(sql: sql).execute()
    }

    /// Reads from one consistent state of the data.
    func snapshot<Value>(_ body: () throws -> Value) throws -> Value {
        try execute(cached: "BEGIN DEFERRED")
        // Nothing was written, so that nothing is lost whichever of the two ends it.
        defer {
            try? execute(cached: "COMMIT")
            if isInsideTransaction { try? execute(sql: "ROLLBACK") }
        }
        return try body()
    }
}
