#if PostgreSQL
public import CloudKitServerCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A storage engine in a PostgreSQL database, which several nodes may share.
///
/// ```swift
/// let storage = try await PostgresStorage.open("postgres://cloud@db.example.com/cloud")
/// ```
///
/// Writes of different databases of users go side by side, also from different nodes. Writes that wait
/// share a transaction. All calls of libpq are made on threads of the storage's own.
public final class PostgresStorage: Storage {
    /// The guarantee for a completed write.
    public enum Durability: Hashable, Sendable {
        /// The write survives whatever the server's own setting of `synchronous_commit` promises.
        case full
        /// The write survives the end of this process; a failure of the server can undo the most
        /// recent writes.
        case relaxed
    }

    let workers: Workers
    private let listener: Listener
    private let counters: Counters
    /// The time for which a request waits for its turn, for a connection, for a lock, or for another
    /// attempt.
    private let patience: Duration

    /// Connects to a database, and creates or updates its tables.
    ///
    /// - Parameters:
    ///   - address: A URL such as `postgres://user@host:5432/database`, or the keywords of libpq; what
    ///     is missing comes from the environment: `PGHOST`, `PGPASSWORD` and others.
    ///   - durability: The guarantee for a completed write.
    ///   - connections: The maximum number of connections.
    ///   - partitions: The number of partitions of the tables that are divided by the users' databases,
    ///     if the tables do not exist yet; 0 for none.
    /// - Returns: The storage.
    /// - Throws: `StorageError` when there is no connection, or the tables belong to a newer version.
    public static func open(
        _ address: String,
        durability: Durability = .full,
        connections: Int = 8,
        partitions: Int = 0
    ) async throws -> PostgresStorage {
        try await open(
            PostgresAddress(address),
            durability: durability,
            connections: connections,
            partitions: partitions
        )
    }

    /// Connects to a database, and creates or updates its tables.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - durability: The guarantee for a completed write.
    ///   - connections: The maximum number of connections.
    ///   - partitions: The number of partitions of the divided tables, if the tables do not exist yet.
    ///   - makesTables: `true` to create the tables of a database that has none.
    ///   - mayBeUnfinished: `true` for a database with a copy of other data that has not ended.
    ///   - patience: The time for which requests wait.
    ///   - reach: The time for attempts to reach the database; nil for the same.
    ///   - note: A closure that is called when the database cannot be reached any more, and when it can again.
    /// - Returns: The storage.
    /// - Throws: `StorageError`.
    package static func open(
        _ address: PostgresAddress,
        durability: Durability = .full,
        connections: Int = 8,
        partitions: Int = 0,
        makesTables: Bool = true,
        mayBeUnfinished: Bool = false,
        patience: Duration = .seconds(20),
        reach: Duration? = nil,
        note: @escaping @Sendable (DatabaseReach) -> Void = { _ in }
    ) async throws -> PostgresStorage {
        let settings = [
            // Statements are prepared once, and each has an index for its one way to go.
            ("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"), ("jit", "off"),
            ("enable_hashjoin", "off"), ("enable_mergejoin", "off"), ("enable_material", "off"),
            ("idle_in_transaction_session_timeout", "60s"),
            // Statements without a transaction around them, too.
            ("default_transaction_isolation", "read committed"),
        ]
        let relaxed = [("synchronous_commit", "off")]
        let storage = PostgresStorage(
            Connector(
                address: address.text,
                settings: settings + (durability == .full ? [] : relaxed),
                patience: patience,
                Reachability(note)
            ),
            connections: max(1, connections)
        )
        do {
            let tables = PostgresTables(
                partitions: partitions,
                areMade: makesTables,
                mayBeUnfinished: mayBeUnfinished
            )
            try await storage.migrate(tables, within: reach ?? patience)
        } catch {
            storage.close()
            throw error
        }
        return storage
    }

    private init(_ connector: Connector, connections: Int) {
        let memory = NodeMemory()
        let counters = Counters()
        self.counters = counters
        patience = connector.patience
        listener = Listener(connector, node: memory.node)
        workers = Workers(limit: connections) { workers in
            Worker(connector: connector, memory: memory, counters: counters).work(for: workers)
        }
    }

    deinit { close() }

    /// Takes no more requests, and ends all connections once those that were taken have ended.
    package func close() {
        workers.close()
        listener.end()
    }

    /// Closes the storage, and waits until all connections have ended.
    package func end() async { await workers.end() }

    /// The costs of the transactions so far.
    package var counts: Counters.Counts { counters.counts }

    // MARK: Transactions

    /// Runs a closure on one consistent state of the data.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try await read(needing: { StorageNeeds() }, body)
    }

    /// Runs a closure on one consistent state of the data, of which the needs are read in one round trip.
    public func read<Value: Sendable>(
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try await run(.read, needing: needs) { try body($0) }
    }

    /// Runs a closure whose changes are kept entirely or not at all.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await write(.everything, needing: { StorageNeeds() }, body)
    }

    /// Runs a closure whose changes are kept entirely or not at all, beside writes to other databases.
    public func write<Value: Sendable>(
        _ scope: WriteScope,
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await run(.write(scope), needing: needs) { try body($0) }
    }

    /// Runs a closure in a transaction of its own, beside writes of other rows.
    public func writeExclusively<Value: Sendable>(
        _ scope: WriteScope,
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await run(.write(scope), isSingle: true, needing: needs) { try body($0) }
    }

    /// Returns the changes of other nodes, of which this one is notified.
    public func foreignChanges() -> AsyncStream<ForeignChanges>? { listener.changes() }

    /// Runs a closure whose statements about the bytes of assets are transactions of their own.
    func runOnAssets<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresTransaction) throws -> Value
    ) async throws -> Value {
        try await run(.assets, needing: { StorageNeeds() }, body)
    }

    private func migrate(_ tables: PostgresTables, within limit: Duration) async throws {
        try await run(.write(.everything), patience: limit, needing: { StorageNeeds() }) {
            transaction in
            let connection = transaction.connection
            guard connection.serverVersion >= 140_000 else {
                throw StorageError(.other, "PostgreSQL 14 or later is needed")
            }
            try tables.migrate(connection)
        }
    }

    /// Returns the time for which a round trip of a transaction may take.
    ///
    /// One of a write to a database may delete a large zone, and an operator's may copy all rows.
    private func silence(of kind: JobKind) -> Duration? {
        switch kind {
        case .read, .assets: patience
        case .write(let scope): scope.parts.contains(.everything) ? nil : patience * 3
        }
    }

    func run<Value: Sendable>(
        _ kind: JobKind,
        patience limit: Duration? = nil,
        isSingle: Bool = false,
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (PostgresTransaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = Outcome(continuation, isOpening: limit != nil)
            let job = Job(
                kind: kind,
                isSingle: isSingle,
                needs: needs,
                run: { transaction in outcome.set(try body(transaction)) },
                finish: { error in outcome.resume(error) },
                end: .now + (limit ?? patience),
                patience: limit ?? silence(of: kind)
            )
            do { try workers.add(job) } catch { outcome.resume(error) }
        }
    }
}

/// The result of a job until its transaction has ended.
private final class Outcome<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let continuation: CheckedContinuation<Value, any Error>
    private let isOpening: Bool

    init(_ continuation: CheckedContinuation<Value, any Error>, isOpening: Bool) {
        self.continuation = continuation
        self.isOpening = isOpening
    }

    func set(_ value: Value) { self.value.withLock { $0 = value } }

    func resume(_ error: (any Error)?) {
        if let error {
            let failure = error as? PostgresFailure
            continuation.resume(
                throwing: (isOpening ? failure?.openingError : failure?.storageError) ?? error
            )
        } else if let value = value.withLock({ $0 }) {
            continuation.resume(returning: value)
        } else {
            continuation.resume(throwing: StorageError(.other, "A transaction has no result"))
        }
    }
}

/// Counts the costs of transactions.
package final class Counters: Sendable {
    /// Numbers of what happened so far.
    package struct Counts: Hashable, Sendable {
        /// Transactions that ended well.
        package var transactions = 0
        /// Round trips for which a request waited.
        package var roundTrips = 0
        /// Reads that nobody had announced.
        package var unannouncedReads = 0
        /// Transactions that had to run again.
        package var repetitions = 0
        /// Attempts to write while nothing else, on any node, is written.
        package var exclusiveWrites = 0
        /// Commits whose result was unknown, and was looked up.
        package var resolutions = 0
        /// Connections that were made.
        package var connects = 0
        /// Connections that are open now.
        package var connections = 0
    }

    private let state = Mutex(Counts())

    package var counts: Counts { state.withLock { $0 } }

    func add(_ change: (inout Counts) -> Void) { state.withLock { change(&$0) } }
}
#endif
