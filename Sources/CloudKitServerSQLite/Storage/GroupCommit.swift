import CloudKitServerCore
import GRDB
import Synchronization

/// Runs the writes that wait in one transaction, so that they share the wait for the disk.
///
/// One that fails is undone alone: the transaction is begun again then, with a savepoint for each, so
/// that a write may run twice. None is told of its success before the transaction is durable.
final class GroupCommit: Sendable {
    /// One write that waits.
    private struct Job: Sendable {
        let run: @Sendable (SQLiteConnection) throws -> Void
        let finish: @Sendable ((any Error)?) -> Void
    }

    private struct Queue {
        var waiting: [Job] = []
        var isRunning = false
    }

    private let database: any DatabaseWriter
    /// Writes that share one transaction at most.
    private let size: Int
    private let queue = Mutex(Queue())

    init(_ database: any DatabaseWriter, size: Int) {
        self.database = database
        self.size = size
    }

    /// Runs a write; returns when it is durable.
    ///
    /// - Throws: What the closure throws, or `StorageError`.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = Outcome<Value>()
            add(
                Job(
                    run: { connection in outcome.set(try body(connection)) },
                    finish: { error in outcome.resume(continuation, error) }
                )
            )
        }
    }

    private func add(_ job: Job) {
        let starts = queue.withLock { queue in
            queue.waiting.append(job)
            defer { queue.isRunning = true }
            return !queue.isRunning
        }
        guard starts else { return }
        database.asyncWriteWithoutTransaction { database in
            while let group = self.takeGroup() { Self.commit(group, database) }
        }
    }

    private func takeGroup() -> [Job]? {
        queue.withLock { queue in
            guard !queue.waiting.isEmpty else {
                queue.isRunning = false
                return nil
            }
            let group = Array(queue.waiting.prefix(size))
            queue.waiting.removeFirst(group.count)
            return group
        }
    }

    private static func commit(_ group: [Job], _ database: Database) {
        var errors: [(any Error)?]
        do {
            do {
                errors = try transact(group, database, runPlainly)
            } catch is MayHaveWritten {
                errors = try transact(group, database, runInSavepoint)
            }
        } catch {
            errors = Array(repeating: StorageError(error), count: group.count)
        }
        guard group.count > 1 else { return group[0].finish(errors[0]) }
        // Waking many takes a while, in which the next group can begin.
        Task { for (job, error) in zip(group, errors) { job.finish(error) } }
    }

    /// Runs jobs in one transaction, and answers their errors; when it throws, nothing was done.
    private static func transact(
        _ group: [Job],
        _ database: Database,
        _ run: (Job, SQLiteConnection, Database) throws -> (any Error)?
    ) throws -> [(any Error)?] {
        do {
            try database.execute(cached: "BEGIN IMMEDIATE")
            let connection = SQLiteConnection(database)
            let errors = try group.map { try run($0, connection, database) }
            try database.execute(cached: "COMMIT")
            return errors
        } catch {
            if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") }
            throw error
        }
    }

    /// A job failed that needs a savepoint, which few do.
    private struct MayHaveWritten: Error {}

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
                throw MayHaveWritten()
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
}
