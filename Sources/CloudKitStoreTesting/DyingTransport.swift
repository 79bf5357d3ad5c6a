import CloudKitTesting
import CloudKitWebClient
import Foundation
import GRDB
import Synchronization

/// The connection of a process to the cloud, which can end the process at a request.
///
/// What the process leaves is a copy of its database as of that moment: the rest of its code reaches
/// neither the copy nor the cloud.
final class DyingTransport: Transport {
    private struct State {
        var requests = 0
        var crash: Plan.Crash?
        var remains: DatabaseQueue?
    }

    private let base: InProcessTransport
    private let database: DatabaseQueue
    private let copy: @Sendable (DatabaseQueue) throws -> DatabaseQueue
    private let state = Mutex(State())

    /// - Parameters:
    ///   - base: The connection.
    ///   - database: The process's database.
    ///   - copy: A closure that copies a database.
    init(
        _ base: InProcessTransport,
        _ database: DatabaseQueue,
        copy: @escaping @Sendable (DatabaseQueue) throws -> DatabaseQueue
    ) {
        self.base = base
        self.database = database
        self.copy = copy
    }

    /// Counts requests from now on, and ends the process at one of them.
    func plan(_ crash: Plan.Crash?) {
        state.withLock {
            $0.requests = 0
            $0.crash = crash
        }
    }

    /// The database that the process left; nil while it runs.
    var remains: DatabaseQueue? { state.withLock { $0.remains } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await carryOut { try await base.send(request) }
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await carryOut { try await base.upload(file, to: url, progress: progress) }
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try await carryOut { try await base.download(url, to: file, progress: progress) }
    }

    private func carryOut<Value>(_ body: () async throws -> Value) async throws -> Value {
        let (number, crash, isDead) = state.withLock { state in
            state.requests += 1
            return (state.requests, state.crash, state.remains != nil)
        }
        if isDead { throw CancellationError() }
        if crash == .before(request: number) { try end() }
        let value = try await body()
        if crash == .after(request: number) { try end() }
        return value
    }

    private func end() throws {
        let left = try copy(database)
        state.withLock { $0.remains = $0.remains ?? left }
        throw CancellationError()
    }
}
