#if PostgreSQL
import CPostgres

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// A statement with its values, and the receiver of its rows.
struct Statement {
    var sql: String
    var parameters: [Parameter] = []
    /// `true` when the statement is kept prepared: those that begin and end a transaction cannot be.
    var isPrepared = true
    var receive: ((ResultRows) throws -> Void)?
}

/// A connection to PostgreSQL; used on one thread at a time, which it may block.
///
/// All statements of one call go to the server together, and their results come back together: one
/// round trip.
final class PostgresConnection {
    private let connection: OpaquePointer
    /// The names of prepared statements, by their text.
    private var prepared: [String: String] = [:]
    /// The number of names that were given; one that failed is not given again.
    private var names = 0
    /// The number of round trips so far.
    private(set) var roundTrips = 0

    /// Connects.
    ///
    /// - Parameters:
    ///   - address: A URL or the keywords of libpq.
    ///   - settings: The settings of the session, by name.
    /// - Throws: `PostgresFailure`.
    init(_ address: String, settings: [(name: String, value: String)]) throws {
        // Whatever the address says comes after these, and wins.
        let defaults = [
            ("connect_timeout", "5"), ("tcp_user_timeout", "15000"),
            ("fallback_application_name", "cloudkit"), ("target_session_attrs", "read-write"),
            ("dbname", address),
        ]
        let keys = defaults.map { strdup($0.0) }
        let values = defaults.map { strdup($0.1) }
        defer { (keys + values).forEach { free($0) } }
        let opened = PQconnectdbParams(
            keys.map { UnsafePointer($0) } + [nil],
            values.map { UnsafePointer($0) } + [nil],
            1
        )
        guard let opened else {
            throw PostgresFailure(code: "", message: "There is no memory for a connection")
        }
        connection = opened
        // From here on the connection is this object's, which ends it in any case.
        guard PQstatus(opened) == CONNECTION_OK else {
            throw PostgresFailure(connecting: Self.message(of: opened))
        }
        // Notices are for people at a terminal.
        PQsetNoticeProcessor(opened, { _, _ in }, nil)
        PQsetnonblocking(opened, 1)
        guard PQenterPipelineMode(opened) == 1 else {
            throw PostgresFailure(code: "", message: "The connection has no pipeline mode")
        }
        try run(
            settings.map { setting in
                Statement(
                    sql: "SELECT set_config($1, $2, false)",
                    parameters: [.text(setting.name), .text(setting.value)]
                )
            }
        )
    }

    deinit { PQfinish(connection) }

    /// The version of the server, such as 150018.
    var serverVersion: Int { Int(PQserverVersion(connection)) }

    /// The number of the server's process when the connection began; a pooler gives one of its own.
    var backend: Int64 { Int64(PQbackendPID(connection)) }

    /// Waits for notifications.
    ///
    /// - Parameters:
    ///   - alarm: A descriptor that ends the wait when it can be read.
    ///   - milliseconds: The time after which the wait ends.
    /// - Returns: The texts of the notifications; empty if the wait has ended without any.
    /// - Throws: `PostgresFailure` if the connection was lost.
    func notifications(until alarm: Int32, milliseconds: Int32) throws -> [String] {
        // Some may have come along with results.
        let waiting = takeNotifications()
        guard waiting.isEmpty else { return waiting }
        var descriptors = [PQsocket(connection), alarm].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        guard poll(&descriptors, 2, milliseconds) >= 0 || errno == EINTR else { throw lost() }
        guard descriptors[0].revents == 0 || PQconsumeInput(connection) == 1 else { throw lost() }
        return takeNotifications()
    }

    private func takeNotifications() -> [String] {
        var texts: [String] = []
        while let notification = PQnotifies(connection) {
            texts.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return texts
    }

    /// Runs statements in one round trip.
    ///
    /// After a failure the statements behind it have not run; a transaction that was open is aborted.
    ///
    /// - Throws: `PostgresFailure`, or the first error of a receiver.
    func run(_ statements: [Statement]) throws {
        guard !statements.isEmpty else { return }
        roundTrips += 1
        var expected: [Expected] = []
        for statement in statements { try send(statement, &expected) }
        guard PQpipelineSync(connection) == 1 else { throw lost() }
        try flush()
        try receive(expected)
    }

    // MARK: Sending

    /// A result that will come.
    private enum Expected {
        case prepared(String)
        case result(Statement)
    }

    private func send(_ statement: Statement, _ expected: inout [Expected]) throws {
        let buffer = ParameterBuffer(statement.parameters)
        guard statement.isPrepared else {
            let isSent = buffer.withPointers { count, values, lengths, formats in
                PQsendQueryParams(
                    connection,
                    statement.sql,
                    count,
                    nil,
                    values,
                    lengths,
                    formats,
                    1
                )
            }
            guard isSent == 1 else { throw lost() }
            expected.append(.result(statement))
            return
        }
        let name: String
        if let known = prepared[statement.sql] {
            name = known
        } else {
            names += 1
            name = "s\(names)"
            guard PQsendPrepare(connection, name, statement.sql, 0, nil) == 1 else { throw lost() }
            prepared[statement.sql] = name
            expected.append(.prepared(statement.sql))
        }
        let isSent = buffer.withPointers { count, values, lengths, formats in
            PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw lost() }
        expected.append(.result(statement))
    }

    /// Sends what waits, and takes what comes meanwhile: a server that cannot write does not read.
    private func flush() throws {
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1:
                var descriptor = pollfd(
                    fd: PQsocket(connection),
                    events: Int16(POLLIN | POLLOUT),
                    revents: 0
                )
                guard poll(&descriptor, 1, -1) >= 0 || errno == EINTR else { throw lost() }
                guard descriptor.revents & Int16(POLLIN) == 0 || PQconsumeInput(connection) == 1
                else { throw lost() }
            default: throw lost()
            }
        }
    }

    // MARK: Receiving

    private func receive(_ expected: [Expected]) throws {
        var first: (any Error)?
        for part in expected {
            guard let result = PQgetResult(connection) else { throw lost() }
            do {
                try take(result, part)
            } catch {
                // What the server says about the connection itself comes last.
                first = first ?? error
            }
            PQclear(result)
            while let extra = PQgetResult(connection) {
                let isSync = PQresultStatus(extra) == PGRES_PIPELINE_SYNC
                PQclear(extra)
                guard !isSync else { throw lost() }
            }
            guard PQstatus(connection) == CONNECTION_OK else { throw first ?? lost() }
        }
        guard let end = PQgetResult(connection) else { throw first ?? lost() }
        defer { PQclear(end) }
        guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw first ?? lost() }
        if let first { throw first }
    }

    private func take(_ result: OpaquePointer, _ part: Expected) throws {
        let status = PQresultStatus(result)
        switch status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            guard case .result(let statement) = part else { return }
            try statement.receive?(ResultRows(result))
        default:
            if case .prepared(let sql) = part { prepared[sql] = nil }
            // The failure of a statement before it says more.
            guard status != PGRES_PIPELINE_ABORTED else { return }
            let code = PQresultErrorField(result, Int32(UInt8(ascii: "C")))
            let message = PQresultErrorField(result, Int32(UInt8(ascii: "M")))
            throw PostgresFailure(
                code: code.map { String(cString: $0) } ?? "",
                message: message.map { String(cString: $0) } ?? Self.message(of: connection)
            )
        }
    }

    private func lost() -> PostgresFailure {
        PostgresFailure(code: "", message: Self.message(of: connection))
    }

    private static func message(of connection: OpaquePointer) -> String {
        let text = String(cString: PQerrorMessage(connection))
        let lines = text.split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }
        return lines.isEmpty ? "the connection was lost" : lines.joined(separator: "; ")
    }
}
#endif
