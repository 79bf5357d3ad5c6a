public import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A storage engine in one SQLite database, on disk or in memory.
///
/// ```swift
/// let storage = try SQLiteStorage(path: "/var/lib/cloudkit/cloud.sqlite")
/// ```
///
/// Writes that wait for the disk share one transaction, so many small ones cost little more than
/// one. Reads run concurrently with writes, each on its own snapshot.
public final class SQLiteStorage: Storage, RepairableStorage {
    /// The guarantee for a completed write.
    public enum Durability: Hashable, Sendable {
        /// The write survives the end of the process and a power failure.
        case full
        /// The write survives the end of the process; a power failure can undo the most recent writes.
        case relaxed
    }

    private let database: any DatabaseWriter
    private let commits: GroupCommit
    /// `nil` for a database in memory, which has one connection.
    private let readers: ReadConnections?
    private let noticed: DamageNote

    /// Opens or creates a database.
    ///
    /// - Parameters:
    ///   - path: The file; `nil` keeps everything in memory, for tests.
    ///   - durability: The guarantee for a completed write.
    ///   - writesPerCommit: The maximum number of writes that share one transaction; use fewer only
    ///     to measure the effect of sharing.
    /// - Throws: `StorageError` when the file cannot be opened or does not belong to this service.
    public init(
        path: String?,
        durability: Durability = .full,
        writesPerCommit: Int = 256
    ) throws {
        if let path { try SQLiteFile.prepare(path) }
        noticed = DamageNote(besideDatabase: path)
        do {
            if let path {
                var configuration = Configuration()
                configuration.busyMode = .timeout(10)
                configuration.label = "cloudkit"
                let pool = try DatabasePool(path: path, configuration: configuration)
                configuration.readonly = true
                readers = ReadConnections(path: path, configuration: configuration, limit: 16)
                try pool.writeWithoutTransaction { database in
                    let level = durability == .full ? "FULL" : "NORMAL"
                    try database.execute(sql: "PRAGMA synchronous = \(level)")
                    // The data that a savepoint would restore is kept in memory, not in a file.
                    try database.execute(sql: "PRAGMA temp_store = MEMORY")
                }
                database = pool
            } else {
                database = try DatabaseQueue()
                readers = nil
            }
            try SQLiteTables.migrator.migrate(database)
            if let path { try SQLiteFile.refuseUnfinished(database, path) }
            commits = GroupCommit(
                database,
                size: max(1, writesPerCommit),
                path: path,
                mayHaveDiscarded: try database.writeWithoutTransaction {
                    try SQLiteConnection($0).hasDiscarded()
                },
                noticed
            )
        } catch {
            throw path.map { StorageError(error, opening: $0) } ?? StorageError(error)
        }
        // Rows that an earlier process discarded may be left.
        commits.removeSoon()
    }

    deinit {
        // The last connection to close writes the journal into the database, which one that only
        // reads cannot. Whatever fails here, the next start reads the journal.
        try? readers?.close()
    }

    /// Limits the size of the database; a write beyond the limit fails as on a full disk.
    ///
    /// - Parameter bytes: The maximum size in bytes, at least the current size; `nil` for no limit.
    /// - Throws: `StorageError` when the database cannot be used.
    public func limitSize(to bytes: Int64?) async throws {
        do {
            try await database.writeWithoutTransaction { database in
                let page = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 4096
                // SQLite's own limit, which page numbers cannot exceed.
                let pages = bytes.map { max(1, $0 / page) } ?? 0xFFFF_FFFE
                try database.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
        } catch {
            throw StorageError(error)
        }
    }

    /// Runs a closure on one consistent state of the data.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        let threads = StorageThreads.shared
        if threads.isCurrent { return try readNow(body) }
        return try await withTaskExecutorPreference(threads) {
            try await self.readThere(body)
        }
    }

    /// The threads on which requests read: a read may wait for the disk or for its connection, and
    /// must not block other work meanwhile.
    public var threads: (any TaskExecutor)? { StorageThreads.shared }

    @concurrent
    private func readThere<Value: Sendable>(
        _ body: @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try readNow(body)
    }

    /// Reads on the caller's thread, which is one of those that may block: a read takes
    /// microseconds, less than handing it to another thread and back would.
    private func readNow<Value>(_ body: (any StorageReader) throws -> Value) throws -> Value {
        do {
            return try StorageThreads.shared.reading {
                if let readers { return try readers.read(body) }
                // Nothing else uses the one connection meanwhile. Making it temporarily read-only
                // would compile all its statements again.
                return try database.unsafeRead { try body(SQLiteConnection($0)) }
            }
        } catch let error as DatabaseError {
            noticed.add(error)
            throw StorageError(error)
        }
    }

    /// Damage that SQLite reported for a request, or that a check has found; `nil` for none.
    public var damage: String? { noticed.text }

    /// Lets SQLite check the database, unless it is in memory, until it is done or the time is over.
    ///
    /// Damage that another process has noticed since the last complete check is found at once, and
    /// nothing else if there is no time.
    public func lookForDamage(within limit: Duration) async {
        noticed.read()
        guard limit > .zero, readers != nil, damage == nil else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [database, noticed] in
                do {
                    // Cancellation interrupts the check.
                    let problems = try await database.read {
                        try SQLiteConnection($0).fileProblems()
                    }
                    if let problem = problems.first { noticed.add(problem.text) }
                } catch {
                    noticed.add(error)
                }
            }
            // Cancellation only ends the wait.
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Runs a closure whose changes are kept entirely or not at all; durable on return.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try refuseIfDamaged()
        return try await commits.run { try body($0) }
    }

    /// Runs a closure in a transaction of its own; other waiting writes run between two of these.
    public func writeExclusively<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try refuseIfDamaged()
        return try await commits.run(isAlone: true) { try body($0) }
    }

    /// Refuses writes to a damaged database: they may hide or enlarge what it has lost, and what a
    /// damaged index finds decides about them.
    private func refuseIfDamaged() throws {
        guard let damage else { return }
        throw StorageError(
            .damaged,
            "The database is damaged, so nothing is written to it; stop the server, run cloudkit "
                + "check --repair, and start it again (\(damage))"
        )
    }

    package func noteDamage(_ damage: String?) {
        if let damage { noticed.replace(damage) } else { noticed.clear() }
    }

    package func beginRepair() throws { try noticed.beginRepair() }

    package func rebuildDamagedTables() async throws -> Bool {
        do {
            return try await database.writeWithoutTransaction { try TableRebuild(of: $0).run() }
        } catch {
            throw StorageError(error)
        }
    }

    /// Writes everything into the database file itself and closes it; nothing can be read or
    /// written afterwards.
    ///
    /// - Throws: `StorageError`.
    package func close() throws {
        do {
            if let readers {
                try readers.close()
                try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            }
            try database.close()
        } catch {
            throw StorageError(error)
        }
    }

    /// The number of waiting writes.
    package var waitingWrites: Int { commits.waitingCount }

    /// Returns a number that changes with every commit that was not made through this storage.
    ///
    /// This is SQLite's own number: for a connection it changes when another one has written, and
    /// this storage writes only through one connection.
    public func externalChangeCount() async throws -> Int64? {
        guard readers != nil else { return nil }
        do {
            return try await database.writeWithoutTransaction { database in
                try Int64.fetchOne(database, sql: "PRAGMA data_version")
            }
        } catch {
            throw StorageError(error)
        }
    }
}
