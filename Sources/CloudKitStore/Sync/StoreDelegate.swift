import CloudKit
import Foundation
import GRDB
import Synchronization

/// Stands between the engine and the file: events become transactions, the outbox becomes batches.
///
/// An error of the file stops the engine before it can note anything as done, so that the next one
/// starts from what was.
final class StoreDelegate: CKSyncEngineDelegate {
    struct State: Sendable {
        /// The versions that were sent in this round.
        var attempted: Set<Int64> = []
        /// The entries of the batch under way, and its files.
        var entries: [String: OutboxEntry] = [:]
        var files: [URL] = []
        var batchLimit: Int
        var isOverQuota = false
        /// Whether a record that was to be deleted has changed on the server.
        var needsFetch = false
        /// The error of a request that nobody answered.
        var unanswered: CKError?
        /// What the file said against an event.
        var failure: (any Error)?
        /// A record that is missing on the server, and whose deletion has not come.
        var suspect: String?
        /// Whether the fetch under way saw records that were known, and so goes over everything.
        var sweeps = false
        var summary = SyncSummary()
    }

    let file: StoreFile
    let configuration: CloudStore.Configuration
    let folder: URL
    let state: Mutex<State>
    let publish: @Sendable ([RowChange]) -> Void
    let isPaused: @Sendable () -> Bool

    init(
        file: StoreFile,
        configuration: CloudStore.Configuration,
        folder: URL,
        isPaused: @escaping @Sendable () -> Bool,
        publish: @escaping @Sendable ([RowChange]) -> Void
    ) {
        self.file = file
        self.configuration = configuration
        self.folder = folder
        self.isPaused = isPaused
        self.publish = publish
        state = Mutex(State(batchLimit: configuration.batchLimit))
    }

    var failure: (any Error)? { state.withLock { $0.failure } }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard failure == nil else { return }
        do {
            try await handle(event, syncEngine)
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    private func handle(_ event: CKSyncEngine.Event, _ engine: CKSyncEngine) async throws {
        switch event {
        case .stateUpdate(let event):
            try await file.set("engine", JSONEncoder().encode(event.stateSerialization))
        case .accountChange(let event): try await accountChanged(event.changeType, engine)
        case .fetchedDatabaseChanges(let event):
            for deletion in event.deletions where deletion.zoneID == file.zoneID {
                try await zoneDeleted(deletion.reason, engine)
            }
        case .sentDatabaseChanges(let event):
            if event.savedZones.contains(where: { $0.zoneID == file.zoneID }) {
                try await file.set("zoneIsSaved", true)
            }
        case .willFetchRecordZoneChanges(let event) where event.zoneID == file.zoneID:
            try await beginFetch()
        case .fetchedRecordZoneChanges(let event): try await fetched(event)
        case .didFetchRecordZoneChanges(let event) where event.zoneID == file.zoneID:
            if event.error == nil { try await endFetch(engine.database) }
        case .willFetchChanges: configuration.onEvent(.started)
        case .willSendChanges:
            configuration.onEvent(.started)
            state.withLock {
                $0.attempted = []
                $0.unanswered = nil
                $0.isOverQuota = false
            }
        case .sentRecordZoneChanges(let event): try await sent(event, engine)
        default: break
        }
    }

    func took(_ changes: [RowChange]) {
        guard !changes.isEmpty else { return }
        state.withLock { $0.summary.received += changes }
        publish(changes)
    }

    /// Takes what was done since it was asked last.
    func takeSummary() -> SyncSummary {
        state.withLock { state in
            defer { state.summary = SyncSummary() }
            return state.summary
        }
    }
}
