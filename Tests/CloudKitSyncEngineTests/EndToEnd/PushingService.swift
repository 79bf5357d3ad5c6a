import CloudKit
import Synchronization

/// A database whose changes are reported to all engines that share a switchboard.
struct PushingService: SyncEngineService {
    final class Switchboard: Sendable {
        private let lines = Mutex<[AsyncStream<Void>.Continuation]>([])

        func connect() -> AsyncStream<Void> {
            let (stream, line) = AsyncStream<Void>.makeStream()
            lines.withLock { $0.append(line) }
            line.yield()
            return stream
        }

        func push() { lines.withLock { lines in for line in lines { line.yield() } } }
    }

    let base: DatabaseSyncService
    let switchboard: Switchboard

    init(_ database: CKDatabase, _ switchboard: Switchboard) {
        base = DatabaseSyncService(database)
        self.switchboard = switchboard
    }

    func respond(
        to request: SyncRequest,
        for user: String?,
        in group: CKOperationGroup?
    ) async -> SyncResponse {
        switch request {
        case .subscribe: return .subscribed("switchboard")
        case .modifyRecords, .modifyZones:
            let response = await base.respond(to: request, for: user, in: group)
            switchboard.push()
            return response
        default: return await base.respond(to: request, for: user, in: group)
        }
    }

    func pushes() -> AsyncStream<Void> { switchboard.connect() }

    func accountChanges() -> AsyncStream<Void> { base.accountChanges() }
}
