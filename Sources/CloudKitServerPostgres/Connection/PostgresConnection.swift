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
    /// The interval at which a server that may take long has to show that it is there.
    private static let pingInterval = Duration.seconds(20)

    private let connection: OpaquePointer
    private let options: [(String, String)]
    /// The names of prepared statements, by their text.
    private var prepared: [String: String] = [:]
    /// The number of round trips so far.
    private(set) var roundTrips = 0
    /// `true` when a pooler is between here and the server.
    private(set) var isPooled = false
    /// The maximum time for a round trip, after which the connection counts as lost; nil for no limit.
    var patience: Duration?
    /// The end of that time.
    private var deadline: ContinuousClock.Instant?
    /// The time at which the server last showed that it is there.
    private var heard = ContinuousClock.now

    /// Connects.
    ///
    /// - Parameters:
    ///   - address: A URL or the keywords of libpq.
    ///   - settings: The settings of the session, by name.
    ///   - seconds: The maximum time for a connection to one host, unless the address has another.
    /// - Throws: `PostgresFailure`.
    init(
        _ address: String,
        settings: [(name: String, value: String)],
        timeout seconds: Int = ConnectionOptions.timeout
    ) throws {
        options = ConnectionOptions.all(address, timeout: seconds)
        guard let opened = Self.withPointers(options, { PQconnectdbParams($0, $1, 1) }) else {
            throw PostgresFailure.lost("there is no memory for a connection")
        }
        connection = opened
        // From here on the connection is this object's, which ends it in any case.
        guard PQstatus(opened) == CONNECTION_OK else {
            throw PostgresFailure.connecting(String(cString: PQerrorMessage(opened)))
        }
        // Notices are for people at a terminal.
        PQsetNoticeProcessor(opened, { _, _ in }, nil)
        PQsetnonblocking(opened, 1)
        guard PQenterPipelineMode(opened) == 1 else {
            throw PostgresFailure.lost("it has no pipeline mode")
        }
        patience = .seconds(seconds)
        let process = try serverProcess(after: settings)
        // A pooler has a number of its own for those who connect to it.
        isPooled = process != Int64(PQbackendPID(opened))
    }

    deinit { PQfinish(connection) }

    private static func withPointers<Value>(
        _ options: [(String, String)],
        _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> Value
    ) -> Value {
        let keys = options.map { strdup($0.0) }
        let values = options.map { strdup($0.1) }
        defer { (keys + values).forEach { free($0) } }
        return body(
            keys.map { UnsafePointer($0) } + [nil],
            values.map { UnsafePointer($0) } + [nil]
        )
    }

    /// The version of the server, such as 150018.
    var serverVersion: Int { Int(PQserverVersion(connection)) }

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

    /// Returns the number of the server's process, after making settings of the session.
    func serverProcess(after settings: [(name: String, value: String)] = []) throws -> Int64 {
        var process: Int64 = 0
        let statements = settings.map { setting in
            Statement(
                sql: "SELECT set_config($1, $2, false)",
                parameters: [.text(setting.name), .text(setting.value)],
                isPrepared: false
            )
        }
        let question = Statement(sql: "SELECT pg_backend_pid()", isPrepared: false) { rows in
            for row in rows { process = row.int(0) }
        }
        try run(statements + [question])
        return process
    }

    /// Returns whether the connection is still there, as far as that is known without a round trip.
    ///
    /// A server that ends a connection says so, and nobody listens while the connection is idle.
    func isAlive() -> Bool {
        var descriptor = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
        while PQstatus(connection) == CONNECTION_OK {
            guard poll(&descriptor, 1, 0) > 0 else { return true }
            guard PQconsumeInput(connection) == 1 else { return false }
            // Takes what came, such as the news of a changed setting.
            _ = PQisBusy(connection)
        }
        return false
    }

    /// Runs statements in one round trip.
    ///
    /// After a failure the statements behind it have not run; a transaction that was open is aborted.
    ///
    /// - Throws: `PostgresFailure`, or the first error of a receiver.
    func run(_ statements: [Statement]) throws {
        guard !statements.isEmpty else { return }
        roundTrips += 1
        heard = .now
        deadline = patience.map { heard + $0 }
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
            name = Self.name(of: statement.sql)
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

    /// Returns the name of a prepared statement.
    ///
    /// It follows from the text, so that no name ever stands for another text, whoever else uses the
    /// same session.
    private static func name(of sql: String) -> String {
        let hash = sql.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
        return "ck\(String(hash, radix: 16))"
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

    /// Waits until the socket can be read or written.
    ///
    /// - Parameter events: The awaited events, as `poll` has them.
    /// - Returns: The events that came; none if it is time to look again.
    /// - Throws: `PostgresFailure` when the deadline is over.
    private func wait(for events: Int32) throws -> Int32 {
        let end = deadline ?? heard + Self.pingInterval
        let left = end - .now
        if left <= .zero {
            guard deadline == nil, isServerThere else {
                throw PostgresFailure.lost("PostgreSQL did not respond in time")
            }
            heard = .now
            return 0
        }
        // Bytes that the TLS library has decrypted already do not make the socket readable.
        let limit: Int64 = PQsslInUse(connection) == 1 ? 20 : .max
        let milliseconds = Int32(clamping: min(limit, Int64(left / .milliseconds(1)) + 1))
        var descriptor = pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
        let number = poll(&descriptor, 1, milliseconds)
        guard number >= 0 || errno == EINTR else { throw lost() }
        if number > 0 { heard = .now }
        return Int32(descriptor.revents)
    }

    /// `true` when the server accepts connections.
    private var isServerThere: Bool {
        Self.withPointers(options) { PQpingParams($0, $1, 1) == PQPING_OK }
    }

    // MARK: Receiving

    private func receive(_ expected: [Expected]) throws {
        var first: (any Error)?
        for part in expected {
            guard let result = try nextResult() else { throw lost() }
            do {
                try take(result, part)
            } catch {
                // What the server says about the connection itself comes last.
                first = first ?? error
            }
            PQclear(result)
            while let extra = try nextResult() {
                let isSync = PQresultStatus(extra) == PGRES_PIPELINE_SYNC
                PQclear(extra)
                guard !isSync else { throw lost() }
            }
            guard PQstatus(connection) == CONNECTION_OK else { throw first ?? lost() }
        }
        guard let end = try nextResult() else { throw first ?? lost() }
        defer { PQclear(end) }
        guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw first ?? lost() }
        if let first { throw first }
    }

    private func nextResult() throws -> OpaquePointer? {
        while PQisBusy(connection) == 1 {
            _ = try wait(for: POLLIN)
            // The result says why there is no connection.
            if PQconsumeInput(connection) == 0 { break }
        }
        return PQgetResult(connection)
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
            let message = PQresultErrorField(result, Int32(UInt8(ascii: "M")))
            // Only the server has codes.
            guard let code = PQresultErrorField(result, Int32(UInt8(ascii: "C"))) else {
                throw lost()
            }
            throw PostgresFailure(
                code: String(cString: code),
                message: message.map { String(cString: $0) } ?? ""
            )
        }
    }

    private func lost() -> PostgresFailure {
        PostgresFailure.lost(String(cString: PQerrorMessage(connection)))
    }
}
#endif
