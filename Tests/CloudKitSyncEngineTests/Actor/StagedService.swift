import CloudKit
import Synchronization

/// A device's connection to its database on which every request waits until the stage passes it on.
final class StagedService: SyncEngineService {
    struct Waiting: Sendable {
        var request: SyncRequest
        var user: String?
        var group: CKOperationGroup?
        var continuation: CheckedContinuation<SyncResponse, Never>
    }

    private struct State {
        var waiting: [Waiting] = []
        var listeners: [AsyncStream<Void>.Continuation] = []
    }

    let base: DatabaseSyncService
    private let state = Mutex(State())

    init(_ database: CKDatabase) {
        base = DatabaseSyncService(database)
    }

    /// Takes the request that waits; an engine has one at a time.
    func takeRequest() -> Waiting? {
        state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }

    var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    func respond(
        to request: SyncRequest,
        for user: String?,
        in group: CKOperationGroup?
    ) async -> SyncResponse {
        await withCheckedContinuation { continuation in
            state.withLock {
                $0.waiting.append(
                    Waiting(
                        request: request,
                        user: user,
                        group: group,
                        continuation: continuation
                    )
                )
            }
        }
    }

    /// Reports a change of the database to its listeners.
    func push() {
        let listeners = state.withLock { $0.listeners }
        for listener in listeners { listener.yield() }
    }

    func pushes() -> AsyncStream<Void> {
        let (stream, listener) = AsyncStream<Void>.makeStream()
        listener.yield()
        state.withLock { $0.listeners.append(listener) }
        return stream
    }

    func accountChanges() -> AsyncStream<Void> { AsyncStream { _ in } }
}
