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
    /// The time for which a server may be silent while it owes results, in milliseconds.
    ///
    /// Longer than `lock_timeout`, after which it says that it waited too long.
    private static let silence: Int32 = 20_000

    private let connection: OpaquePointer
    /// The parameters of the connection, by the names of libpq.
    private let parameters: [(name: String, value: String)]
    /// The names of prepared statements, by their text.
    private var prepared: [String: String] = [:]
    /// The number of names that were given; one that failed is not given again.
    private var names = 0
    /// The number of round trips so far.
    private(set) var roundTrips = 0
    /// `true` while statements run that may take minutes.
    private var isLong = false

    /// Connects.
    ///
    /// - Parameters:
    ///   - address: A URL or the keywords of libpq.
    ///   - settings: The settings of the session, by name.
    /// - Throws: `PostgresFailure`.
    init(_ address: String, settings: [(name: String, value: String)]) throws {
        // Whatever the address says comes after these, and wins.
        parameters = [
            ("connect_timeout", "5"), ("tcp_user_timeout", "15000"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("fallback_application_name", "cloudkit"), ("target_session_attrs", "read-write"),
            ("dbname", address),
        ]
        guard let opened = Self.withPointers(parameters, { PQconnectdbParams($0, $1, 1) }) else {
            throw PostgresFailure(code: "", message: "There is no memory for a connection")
        }
        connection = opened
        // From here on the connection is this object's, which ends it in any case.
        guard PQstatus(opened) == CONNECTION_OK else {
            throw PostgresFailure(code: "", message: Self.message(of: opened))
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

    private static func withPointers<Value>(
        _ parameters: [(name: String, value: String)],
        _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> Value
    ) -> Value {
        let names = parameters.map { strdup($0.name) }
        let values = parameters.map { strdup($0.value) }
        defer { (names + values).forEach { free($0) } }
        return body(
            names.map { UnsafePointer($0) } + [nil],
            values.map { UnsafePointer($0) } + [nil]
        )
    }

    /// The version of the server, such as 150018.
    var serverVersion: Int { Int(PQserverVersion(connection)) }

    /// Runs statements in one round trip.
    ///
    /// After a failure the statements behind it have not run; a transaction that was open is aborted.
    /// A server that is silent for 20 seconds counts as lost: a network that swallows everything,
    /// or a machine that stands still, would otherwise keep the request for ever.
    ///
    /// - Parameters:
    ///   - statements: The statements.
    ///   - isLong: `true` for statements that may take minutes, for which silence is no failure while the
    ///     server accepts other connections.
    /// - Throws: `PostgresFailure`, or the first error of a receiver.
    func run(_ statements: [Statement], isLong: Bool = false) throws {
        guard !statements.isEmpty else { return }
        roundTrips += 1
        self.isLong = isLong
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
                let events = try wait(for: POLLIN | POLLOUT)
                guard events & POLLIN == 0 || PQconsumeInput(connection) == 1 else { throw lost() }
            default: throw lost()
            }
        }
    }

    /// Waits until the connection can be read or written; returns which.
    private func wait(for events: Int32) throws -> Int32 {
        while true {
            var descriptor = pollfd(
                fd: PQsocket(connection),
                events: Int16(events),
                revents: 0
            )
            switch poll(&descriptor, 1, Self.silence) {
            case 1...: return Int32(descriptor.revents)
            case 0:
                let isThere = Self.withPointers(parameters) { names, values in
                    isLong && PQpingParams(names, values, 1) == PQPING_OK
                }
                guard isThere else {
                    throw PostgresFailure(
                        code: "",
                        message: "the server was silent for \(Self.silence / 1000) seconds"
                    )
                }
            default: guard errno == EINTR else { throw lost() }
            }
        }
    }

    // MARK: Receiving

    /// Waits for the next result; nil where one ends.
    private func next() throws -> OpaquePointer? {
        while PQisBusy(connection) == 1 {
            _ = try wait(for: POLLIN)
            guard PQconsumeInput(connection) == 1 else { throw lost() }
        }
        return PQgetResult(connection)
    }

    private func receive(_ expected: [Expected]) throws {
        var first: (any Error)?
        for part in expected {
            guard let result = try next() else { throw lost() }
            do {
                try take(result, part)
            } catch {
                // What the server says about the connection itself comes last.
                first = first ?? error
            }
            PQclear(result)
            while let extra = try next() {
                let isSync = PQresultStatus(extra) == PGRES_PIPELINE_SYNC
                PQclear(extra)
                guard !isSync else { throw lost() }
            }
            guard PQstatus(connection) == CONNECTION_OK else { throw first ?? lost() }
        }
        guard let end = try next() else { throw first ?? lost() }
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
