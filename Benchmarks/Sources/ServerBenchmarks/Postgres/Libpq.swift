#if PostgreSQL
import CLibpq
import Foundation

/// A connection of a floor, with nothing between it and libpq.
///
/// Values go both ways in their binary form. All statements between two calls of `sync` are one round trip, and
/// one transaction: what PostgreSQL has without `BEGIN` and `COMMIT`.
final class Libpq {
    private let connection: OpaquePointer
    private var statements = 0
    private var sent = 0

    init(_ address: String) throws {
        guard let opened = PQconnectdb(address), PQstatus(opened) == CONNECTION_OK else {
            throw BenchError(description: "No connection to \(address)")
        }
        connection = opened
        // As the engine's connections have them.
        for setting in [
            "plan_cache_mode = force_generic_plan", "enable_seqscan = off", "jit = off",
        ] {
            try run("SET \(setting)")
        }
        PQsetnonblocking(opened, 1)
        guard PQenterPipelineMode(opened) == 1 else { throw error() }
    }

    deinit { PQfinish(connection) }

    private func run(_ sql: String) throws {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw error() }
    }

    /// Prepares a statement, and returns its name.
    func prepare(_ sql: String) throws -> String {
        statements += 1
        let name = "f\(statements)"
        guard PQsendPrepare(connection, name, sql, 0, nil) == 1 else { throw error() }
        sent += 1
        try sync()
        return name
    }

    /// Runs a statement once, and returns its rows.
    @discardableResult
    func rows(_ sql: String, _ values: Values = Values()) throws -> [[[UInt8]?]] {
        let statement = try prepare(sql)
        try send(statement, values)
        var rows: [[[UInt8]?]] = []
        try sync { result in
            rows = (0..<PQntuples(result)).map { row in
                (0..<PQnfields(result)).map { column in
                    guard PQgetisnull(result, row, column) == 0 else { return nil }
                    let count = Int(PQgetlength(result, row, column))
                    return Array(
                        UnsafeRawBufferPointer(
                            start: PQgetvalue(result, row, column),
                            count: count
                        )
                    )
                }
            }
        }
        return rows
    }

    /// Sends a prepared statement; its result comes with the next `sync`.
    func send(_ statement: String, _ values: Values) throws {
        let isSent = values.withPointers { pointers, lengths, formats in
            PQsendQueryPrepared(
                connection,
                statement,
                Int32(lengths.count),
                pointers,
                lengths,
                formats,
                1
            )
        }
        guard isSent == 1 else { throw error() }
        sent += 1
    }

    /// Ends the transaction of the statements that were sent, and receives their results in order.
    func sync(_ receive: (OpaquePointer) throws -> Void = { _ in }) throws {
        guard PQpipelineSync(connection) == 1 else { throw error() }
        try flush()
        for _ in 0..<sent {
            guard let result = PQgetResult(connection) else { throw error() }
            defer { PQclear(result) }
            guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
                throw BenchError(description: String(cString: PQresultErrorMessage(result)))
            }
            try receive(result)
            // The end of a statement's results.
            guard PQgetResult(connection) == nil else { throw error() }
        }
        sent = 0
        let end = PQgetResult(connection)
        defer { PQclear(end) }
        guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw error() }
    }

    private func flush() throws {
        while true {
            let state = PQflush(connection)
            if state == 0 { return }
            var descriptor = pollfd(
                fd: PQsocket(connection),
                events: Int16(POLLIN | POLLOUT),
                revents: 0
            )
            guard state == 1, poll(&descriptor, 1, -1) > 0,
                descriptor.revents & Int16(POLLIN) == 0 || PQconsumeInput(connection) == 1
            else { throw error() }
        }
    }

    private func error() -> BenchError {
        BenchError(description: String(cString: PQerrorMessage(connection)))
    }
}
#endif
