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

    /// Opens or makes a file.
    ///
    /// - Parameters:
    ///   - path: The file; nil keeps everything in memory, for tests.
    ///   - durability: When a write counts as done.
    /// - Throws: `StorageError` when the file cannot be opened or is not one of this service.
    public init(path: String?, durability: Durability = .full) throws {
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
                }
                database = pool
            } else {
                database = try DatabaseQueue()
            }
            try SQLiteTables.migrator.migrate(database)
        } catch {
            throw StorageError(error)
        }
        commits = GroupCommit(database)
    }

    /// Runs a closure on one consistent state of the data.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try readNow(body)
    }

    /// Reads on the caller's thread: a read takes microseconds, less than handing it to another
    /// thread and back would.
    private func readNow<Value>(_ body: (any StorageReader) throws -> Value) throws -> Value {
        do {
            return try database.read { try body(SQLiteConnection($0)) }
        } catch let error as DatabaseError {
            throw StorageError(error)
        }
    }

    /// Runs a closure whose changes are kept as a whole or not at all; durable on return.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await commits.run { try body(SQLiteConnection($0)) }
    }
}
