public import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A storage engine in one SQLite file, or in memory.
///
/// ```swift
/// let storage = try SQLiteStorage(path: "/var/lib/cloudkit/cloud.sqlite")
/// ```
///
/// Writes that wait for the disk share one transaction, so many small ones cost little more than
/// one. Reads run beside writes, each on its own snapshot.
public final class SQLiteStorage: Storage {
    /// When a write counts as done.
    public enum Durability: Hashable, Sendable {
        /// It survives the end of the process and the loss of power.
        case full
        /// It survives the end of the process; the loss of power can undo the last ones.
        case relaxed
    }

    private let database: any DatabaseWriter
    private let commits: GroupCommit
    private let isFile: Bool

    /// Opens or makes a file.
    ///
    /// - Parameters:
    ///   - path: The file; nil keeps everything in memory, for tests.
    ///   - durability: When a write counts as done.
    ///   - writesPerCommit: Writes that share one transaction at most; fewer only to measure what
    ///     sharing is worth.
    /// - Throws: `StorageError` when the file cannot be opened or is not one of this service.
    public init(
        path: String?,
        durability: Durability = .full,
        writesPerCommit: Int = 256
    ) throws {
        isFile = path != nil
        if let path { try SQLiteFile.prepare(path) }
        do {
            if let path {
                var configuration = Configuration()
                configuration.busyMode = .timeout(10)
                configuration.maximumReaderCount = 16
                configuration.label = "cloudkit"
                let pool = try DatabasePool(path: path, configuration: configuration)
                try pool.writeWithoutTransaction { database in
                    let level = durability == .full ? "FULL" : "NORMAL"
                    try database.execute(sql: "PRAGMA synchronous = \(level)")
                    // What a savepoint would put back is kept in memory, not in a file.
                    try database.execute(sql: "PRAGMA temp_store = MEMORY")
                }
                database = pool
            } else {
                database = try DatabaseQueue()
            }
            try SQLiteTables.migrator.migrate(database)
            commits = GroupCommit(
                database,
                size: max(1, writesPerCommit),
                mayHaveDiscarded: try database.writeWithoutTransaction {
                    try SQLiteConnection($0).hasDiscarded()
                }
            )
        } catch {
            throw StorageError(error)
        }
        commits.removeSoon()
    }

    /// Limits how large the file may grow; a write beyond that is refused as on a full disk.
    ///
    /// - Parameter bytes: Bytes of the file at most, never less than it has; nil for no limit.
    /// - Throws: `StorageError` when the file cannot be used.
    public func limitSize(to bytes: Int64?) async throws {
        do {
            try await database.writeWithoutTransaction { database in
                let page = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 4096
                // SQLite's own limit, which its numbers of pages cannot exceed.
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
        if StorageThreads.shared.isCurrent { return try readNow(body) }
        return try await withTaskExecutorPreference(StorageThreads.shared) {
            try await self.readThere(body)
        }
    }

    /// The threads on which requests read: a read may wait for the disk, or for its connection, and
    /// must keep nothing else from going on.
    public var threads: (any TaskExecutor)? { StorageThreads.shared }

    @concurrent
    private func readThere<Value: Sendable>(
        _ body: @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try readNow(body)
    }

    /// Reads on the caller's thread, which is one of those that may wait: a read takes microseconds,
    /// less than handing it to another thread and back would.
    private func readNow<Value>(_ body: (any StorageReader) throws -> Value) throws -> Value {
        do {
            // Of memory there is one connection, on which nothing else happens meanwhile. To make it
            // read-only for the while would compile all its statements anew.
            return try database.unsafeRead { database in
                guard isFile else { return try body(SQLiteConnection(database)) }
                return try database.snapshot { try body(SQLiteConnection(database)) }
            }
        } catch let error as DatabaseError {
            throw StorageError(error)
        }
    }

    /// Runs a closure whose changes are kept as a whole or not at all; durable on return.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await commits.run { try body($0) }
    }

    /// Runs a closure in a transaction of its own; between two of those, writes that wait go first.
    public func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await commits.run(isAlone: true) { try body($0) }
    }

    /// Brings everything into the file itself and closes it; nothing can be read or written any more.
    ///
    /// - Throws: `StorageError`.
    package func close() throws {
        do {
            if isFile {
                try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            }
            try database.close()
        } catch {
            throw StorageError(error)
        }
    }

    /// Writes that wait.
    package var waitingWrites: Int { commits.waitingCount }

    /// A number that differs after every commit that did not come from here.
    ///
    /// SQLite's own: it changes for a connection when another one has written, and all that is written
    /// here is written through the same one.
    public func foreignChanges() async throws -> Int64? {
        guard isFile else { return nil }
        do {
            return try await database.writeWithoutTransaction { database in
                try Int64.fetchOne(database, sql: "PRAGMA data_version")
            }
        } catch {
            throw StorageError(error)
        }
    }
}
