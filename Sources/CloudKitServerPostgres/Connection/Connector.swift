#if PostgreSQL
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The address and the settings of a storage's connections.
final class Connector: Sendable {
    /// The pause between two attempts, in microseconds.
    static let pause: UInt32 = 100_000
    /// The number of times that a pooler may show what it does.
    private static let rounds = 8

    /// The maximum time for which a session waits for a lock.
    let patience: Duration
    let reachability: Reachability
    private let address: String
    private let settings: [(name: String, value: String)]
    /// `true` once it is known that a pooler keeps sessions.
    private let keepsSessions = Mutex(false)

    init(
        address: String,
        settings: [(name: String, value: String)],
        patience: Duration,
        _ reachability: Reachability
    ) {
        self.address = address
        self.reachability = reachability
        self.patience = patience
        let milliseconds = Int64(patience / .milliseconds(1))
        self.settings = settings + [("lock_timeout", String(milliseconds))]
    }

    /// Creates a connector with the address and settings of another one.
    ///
    /// - Parameters:
    ///   - other: The other connector.
    ///   - name: The name by which operators tell its connections from others.
    init(_ other: Connector, name: String) {
        address = other.address
        reachability = other.reachability
        patience = other.patience
        settings = other.settings + [("application_name", name)]
    }

    /// Connects; tries again until a time.
    ///
    /// - Parameters:
    ///   - end: The time.
    ///   - noteFailure: A closure that receives the failure of each attempt.
    /// - Returns: The connection.
    /// - Throws: The last failure.
    func connect(
        until end: ContinuousClock.Instant,
        _ noteFailure: (PostgresFailure) -> Void = { _ in }
    ) throws -> PostgresConnection {
        while true {
            do {
                return try connectOnce(until: end)
            } catch let failure as PostgresFailure where failure.isLost && !failure.isFinal {
                noteFailure(failure)
                guard ContinuousClock.now < end else { throw failure }
                usleep(Self.pause)
            }
        }
    }

    /// Connects in one attempt.
    func connectOnce(until end: ContinuousClock.Instant) throws -> PostgresConnection {
        let left = Int(clamping: (end - .now).components.seconds)
        let connection = try PostgresConnection(
            address,
            settings: settings,
            timeout: max(1, min(left, ConnectionOptions.timeout))
        )
        if connection.isPooled { try requireSession(connection, until: end) }
        reachability.regained()
        return connection
    }

    /// Checks that a pooler keeps a session while its connection is open.
    ///
    /// One that does not gives the server's process of one connection to the other, or another process
    /// to the same one.
    private func requireSession(
        _ first: PostgresConnection,
        until end: ContinuousClock.Instant
    ) throws {
        guard !keepsSessions.withLock({ $0 }) else { return }
        let second: PostgresConnection
        do {
            second = try PostgresConnection(address, settings: settings)
        } catch let failure as PostgresFailure where failure.isLost {
            // A pooler that has no other session for it has kept that of the first one.
            return
        }
        let process = try first.serverProcess()
        for _ in 0..<Self.rounds {
            let isKept = try first.serverProcess() == process && second.serverProcess() != process
            guard isKept else {
                throw PostgresFailure(
                    code: "",
                    message: "PostgreSQL cannot be used: " + PostgresFailure.transactionPooling,
                    isFinal: true
                )
            }
        }
        keepsSessions.withLock { $0 = true }
    }
}
#endif
