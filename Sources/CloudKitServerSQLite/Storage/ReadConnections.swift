import Dispatch
import GRDB
import Synchronization

/// The connections that read a database file, each for one read at a time.
///
/// A connection keeps the rows of its ``DirectoryCache`` from read to read until another connection
/// has written.
final class ReadConnections: Sendable {
    private let path: String
    private let configuration: Configuration
    private let free = Mutex<[ReadConnection]>([])
    /// Limits the number of connections.
    private let permits: DispatchSemaphore

    /// - Parameters:
    ///   - path: The file, which a writing connection has open.
    ///   - configuration: The settings of each connection.
    ///   - limit: The maximum number of connections; more reads wait for one.
    init(path: String, configuration: Configuration, limit: Int) {
        self.path = path
        self.configuration = configuration
        permits = DispatchSemaphore(value: limit)
    }

    /// Runs a closure that reads from one consistent state of the data.
    func read<Value>(_ body: (SQLiteConnection) throws -> Value) throws -> Value {
        permits.wait()
        defer { permits.signal() }
        let connection =
            try free.withLock { $0.popLast() }
            ?? ReadConnection(path: path, configuration: configuration)
        defer { free.withLock { $0.append(connection) } }
        return try connection.read(body)
    }

    /// Closes the connections, none of which may be reading.
    func close() throws {
        for connection in free.withLock({ $0 }) { try connection.close() }
    }
}

private final class ReadConnection: @unchecked Sendable {
    // @unchecked Sendable because one read has it at a time, on the connection's own queue.

    private let queue: DatabaseQueue
    private let directory = DirectoryCache()
    /// The versions of the data and of the tables when the rows in the directory were read.
    private var versions: (data: Int64?, tables: Int32?)

    init(path: String, configuration: Configuration) throws {
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    func read<Value>(_ body: (SQLiteConnection) throws -> Value) throws -> Value {
        // The connection only reads. Making it read-only for each read would compile its statements
        // again.
        try queue.unsafeRead { database in
            try database.snapshot {
                try update(database)
                // Whole collections may be large.
                defer { directory.documents = DirectoryCache.Rows() }
                return try body(SQLiteConnection(database, directory))
            }
        }
    }

    func close() throws { try queue.close() }

    /// Forgets what may have changed if another connection has written; this one never does.
    private func update(_ database: Database) throws {
        let statement = try database.cachedStatement(sql: "PRAGMA data_version")
        let version = try Int64.fetchOne(statement)
        guard versions.data != version else { return }
        directory.empty()
        let tables = try database.schemaVersion()
        if versions.tables != tables { database.clearSchemaCache() }
        versions = (version, tables)
    }
}
