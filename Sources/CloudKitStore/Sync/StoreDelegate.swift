import CloudKit
import Foundation
import GRDB
import Synchronization

/// The connection between the engine and the file: events become transactions, the outbox becomes batches.
///
/// An error of the file stops the engine before it can mark anything as done, so the next engine
/// starts from the stored state.
final class StoreDelegate: CKSyncEngineDelegate {
    struct State: Sendable {
        /// The versions that were sent in this round.
        var attempted: Set<Int64> = []
        /// The batch that was last passed to the engine.
        var inFlight = InFlightBatch()
        /// The responses that the file does not have yet.
        var waiting: Answers?
        var batchLimit: Int
        var isOverQuota = false
        /// `true` when a record to be deleted has changed on the server.
        var needsFetch = false
        /// The error of a request without a response.
        var unanswered: CKError?
        /// The error of the file during an event.
        var failure: (any Error)?
        /// The fetches in flight, by zone.
        var fetches: [StoreZone: Fetch] = [:]
        /// The zones of which a fetch has been completed here.
        var finished: Set<StoreZone> = []
        /// A record that is missing on the server without a fetched deletion.
        var suspect: Suspect?
        var summary = SyncSummary()
        var progress: SyncProgress?
        /// The changes that have arrived and are not written yet.
        var arrivals = Arrivals()
        /// The engine's state that was written last.
        var engine: Data?
    }

    /// The findings of a zone's fetch about itself.
    struct Fetch: Sendable {
        /// The fetch's number; the records that it includes have this number or a later one.
        var session: Int64 = 0
        /// `true` when it included known records, which shows that it covers all records.
        var sweeps = false
    }

    /// A record that a fetch did not include and the server does not have.
    struct Suspect: Sendable {
        var name: String
        var session: Int64
    }

    /// The databases that a store syncs with.
    enum Scope: Sendable {
        /// The user's own zone.
        case own
        /// The zones that others share with the user.
        case shared
        /// The tables of the public database, which no engine syncs.
        case `public`

        func contains(_ zone: StoreZone) -> Bool {
            switch (self, zone) {
            case (.own, .own), (.shared, .shared), (.public, .public): true
            default: false
            }
        }
    }

    let scope: Scope
    let file: StoreFile
    let configuration: StoreConfiguration
    let folder: URL
    let state: Mutex<State>
    /// The values freed by the deletions of this round.
    let freed = FreedValues()
    let publish: @Sendable ([RowChange]) -> Void
    let statusChanged: @Sendable () -> Void
    let isPaused: @Sendable () -> Bool

    init(
        scope: Scope,
        file: StoreFile,
        configuration: StoreConfiguration,
        folder: URL,
        isPaused: @escaping @Sendable () -> Bool,
        publish: @escaping @Sendable ([RowChange]) -> Void,
        statusChanged: @escaping @Sendable () -> Void
    ) {
        self.scope = scope
        self.file = file
        self.configuration = configuration
        self.folder = folder
        self.isPaused = isPaused
        self.publish = publish
        self.statusChanged = statusChanged
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
        // The engine's state contains no single records.
        if case .stateUpdate(let event) = event {
            return try await arrived(event.stateSerialization)
        }
        try await finishAnswers()
        switch event {
        case .fetchedRecordZoneChanges(let event): return try await fetched(event)
        default: try await finishArrivals()
        }
        switch event {
        case .accountChange(let event) where scope == .own:
            try await accountChanged(event.changeType, engine)
        case .fetchedDatabaseChanges(let event):
            for deletion in event.deletions {
                guard let zone = zone(deletion.zoneID) else { continue }
                try await zoneDeleted(zone, deletion.reason, engine)
            }
        case .sentDatabaseChanges(let event):
            if event.savedZones.contains(where: { zone($0.zoneID) == .own }) {
                try await file.set("zoneIsSaved", true)
            }
        case .willFetchRecordZoneChanges(let event):
            if let zone = zone(event.zoneID) { try await beginFetch(zone) }
        case .didFetchRecordZoneChanges(let event):
            guard event.error == nil, let zone = zone(event.zoneID) else { return }
            try await endFetch(zone, engine.database)
        case .willFetchChanges:
            progress(SyncProgress(direction: .receiving))
            configuration.onEvent(.started)
        case .didFetchChanges:
            progress(nil)
            if configuration.syncsAutomatically { confirmZoneLater(engine) }
        case .didSendChanges: progress(nil)
        case .willSendChanges:
            progress(SyncProgress(direction: .sending))
            configuration.onEvent(.started)
            freed.forget()
            state.withLock {
                $0.attempted = []
                $0.unanswered = nil
                $0.isOverQuota = false
            }
        case .sentRecordZoneChanges(let event): try await sent(event, engine)
        default: break
        }
    }

    private func progress(_ progress: SyncProgress?) {
        state.withLock { $0.progress = progress }
        statusChanged()
    }

    /// Counts completed items.
    func progressed(by count: Int) {
        guard count > 0 else { return }
        state.withLock { $0.progress?.done += count }
        statusChanged()
    }

    /// Fetches no zone while the app allows no connection; the changes remain to be fetched.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        var options = context.options
        if isPaused() || !configuration.isConnected() { options.scope = .zoneIDs([]) }
        return options
    }

    /// Returns a zone in this delegate's database; nil for a zone of no store.
    func zone(_ id: CKRecordZone.ID) -> StoreZone? {
        guard let zone = file.zone(id), scope.contains(zone) else { return nil }
        return zone
    }

    func took(_ all: [RowChange]) {
        // The journal is not a table of the app's.
        let changes = all.filter { $0.table != SharedJournal.table }
        guard !changes.isEmpty else { return }
        state.withLock { $0.summary.received += changes }
        publish(changes)
    }

    /// Returns and resets the summary of the changes since the last call.
    func takeSummary() -> SyncSummary {
        state.withLock { state in
            defer { state.summary = SyncSummary() }
            return state.summary
        }
    }
}
