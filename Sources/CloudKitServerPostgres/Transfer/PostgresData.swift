#if PostgreSQL
package import CloudKitServerCore

/// All data in a database, for copies from one engine to another.
// @unchecked Sendable because a copy makes one call after another, though on different threads.
package final class PostgresData: DataStore, @unchecked Sendable {
    package let name: String
    private let connection: PostgresConnection
    /// The connection whose transaction keeps all nodes from writing; nil if they may write.
    private let holder: PostgresConnection?

    /// Connects to a database, to copy its data as it is at one moment.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - isHeld: `true` if no node may write before the copy has ended: a write would be lost with
    ///     everything that comes after the copy.
    /// - Returns: The data.
    /// - Throws: `StorageError` when there is no connection, and for a database of another version.
    package static func source(
        _ address: PostgresAddress,
        isHeld: Bool
    ) async throws -> PostgresData {
        try await onOwnThread {
            try PostgresData(address, isHeld: isHeld) { connection in
                try PostgresTables(areMade: false).migrate(connection)
            }
        }
    }

    /// Connects to a database, and creates the tables that are missing, to copy data to it.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - partitions: The number of partitions of the tables that are divided by the users' databases,
    ///     if the tables do not exist yet; 0 for none.
    /// - Returns: The data.
    /// - Throws: `StorageError` when there is no connection.
    package static func target(
        _ address: PostgresAddress,
        partitions: Int = 0
    ) async throws -> PostgresData {
        try await onOwnThread {
            try PostgresData(address, isHeld: false) { connection in
                try PostgresTables(partitions: partitions, mayBeUnfinished: true).migrate(
                    connection
                )
            }
        }
    }

    private static func onOwnThread(
        _ body: @escaping @Sendable () throws -> PostgresData
    ) async throws -> PostgresData {
        try await DataCopy.onOwnThread {
            do {
                return try body()
            } catch let error as PostgresFailure {
                throw error.storageError
            }
        }
    }

    private init(
        _ address: PostgresAddress,
        isHeld: Bool,
        prepare: (PostgresConnection) throws -> Void
    ) throws {
        name = "the database \(address.description)"
        func connect() throws -> PostgresConnection {
            // A copy that is cut off is continued, so only its end has to be durable.
            let settings = [
                ("synchronous_commit", "off"), ("idle_in_transaction_session_timeout", "0"),
                ("lock_timeout", "30s"), ("jit", "off"),
            ]
            return try PostgresConnection(address.text, settings: settings)
        }
        connection = try connect()
        try prepare(connection)
        guard isHeld else {
            holder = nil
            return
        }
        // A transaction of its own, because the one that reads has to begin after the lock.
        let holder = try connect()
        try holder.run([
            Statement(sql: "BEGIN", isPrepared: false),
            Statement(
                sql: "SELECT pg_advisory_xact_lock(\(PostgresTables.Lock.everything))",
                isPrepared: false
            ),
        ])
        self.holder = holder
    }

    package func read<Value>(_ body: (any DataReader) throws -> Value) throws -> Value {
        try use {
            try connection.run([
                Statement(
                    sql: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                    isPrepared: false
                )
            ])
            let value = try body(PostgresDataReader(connection))
            try connection.run([Statement(sql: "ROLLBACK", isPrepared: false)])
            return value
        }
    }

    package func write(_ body: (any DataWriter) throws -> Void) throws {
        try use {
            let writer = PostgresDataWriter()
            try body(writer)
            var status = ""
            try connection.run(
                [
                    Statement(sql: "BEGIN", isPrepared: false),
                    Statement(
                        sql: "SELECT pg_advisory_xact_lock(\(PostgresTables.Lock.everything))",
                        isPrepared: false
                    ),
                ] + writer.statements + [
                    Statement(sql: "COMMIT", isPrepared: false) { status = $0.status }
                ]
            )
            guard status == "COMMIT" else {
                throw StorageError(.other, "PostgreSQL rolled a page of the copy back")
            }
        }
    }

    /// Lets the nodes write again: the connections end with this object.
    package func close() {}

    private func use<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            // A connection that is lost has no transaction; the error above is the one to report.
            try? connection.run([Statement(sql: "ROLLBACK", isPrepared: false)])
            guard let failure = error as? PostgresFailure else { throw error }
            // Another row, or another state of the copy, is there.
            if failure.isConflict { throw CopyState.otherCopy }
            throw failure.storageError
        }
    }
}
#endif
