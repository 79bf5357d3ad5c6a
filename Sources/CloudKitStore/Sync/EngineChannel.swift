import CloudKit
import Foundation
import GRDB
import Synchronization

/// The channel over which an engine syncs the user's own zone, or the zones that others share: events become
/// transactions, the outbox becomes batches.
///
/// An error of the file stops the engine before it can mark anything as done, so the next engine
/// starts from the stored state.
final class EngineChannel: CKSyncEngineDelegate {
    let context: SyncContext
    let receiver: ChangeReceiver
    let fetches: ZoneFetches
    let sender: ChangeSender
    let ownZone: OwnZone
    private let isPaused: @Sendable () -> Bool
    /// The error of the file during an event.
    private let failed = Mutex<(any Error)?>(nil)

    init(_ context: SyncContext, folder: URL, isPaused: @escaping @Sendable () -> Bool) {
        self.context = context
        receiver = ChangeReceiver(context)
        fetches = ZoneFetches(context, receiver)
        sender = ChangeSender(context, folder: folder)
        ownZone = OwnZone(context)
        self.isPaused = isPaused
    }

    var failure: (any Error)? { failed.withLock { $0 } }

    /// `true` when the app allows no connection.
    private var isOffline: Bool { isPaused() || !context.configuration.isConnected() }

    // MARK: Events

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard failure == nil else { return }
        do {
            try await handle(event, syncEngine)
        } catch {
            failed.withLock { $0 = error }
        }
    }

    private func handle(_ event: CKSyncEngine.Event, _ engine: CKSyncEngine) async throws {
        // The engine's state contains no single records.
        if case .stateUpdate(let event) = event {
            return try await receiver.receive(event.stateSerialization)
        }
        // What arrives next may contain the saves that the waiting responses acknowledge.
        try await sender.finish()
        if case .fetchedRecordZoneChanges(let event) = event {
            return try await receiver.receive(event)
        }
        // Other events apply to a file with everything that arrived before them.
        try await receiver.finish()
        switch event {
        // Both channels receive it; that of the user's own zone handles it.
        case .accountChange(let event) where context.scope == .own:
            try await ownZone.accountChanged(event.changeType, engine)
        case .fetchedDatabaseChanges(let event):
            for deletion in event.deletions {
                guard let zone = context.zone(deletion.zoneID) else { continue }
                if zone.isOwned {
                    try await fetches.lose(zone)
                    continue
                }
                try await zoneDeleted(zone, deletion.reason, engine)
            }
        case .sentDatabaseChanges(let event):
            if event.savedZones.contains(where: { context.zone($0.zoneID) == .own }) {
                try await context.file.set("zoneIsSaved", true)
            }
        case .willFetchRecordZoneChanges(let event):
            if let zone = context.zone(event.zoneID) { try await fetches.begin(zone) }
        case .didFetchRecordZoneChanges(let event):
            guard let zone = context.zone(event.zoneID) else { return }
            guard event.error == nil else { return fetches.fail() }
            try await fetches.end(zone)
        case .willFetchChanges: context.reporter.began(.receiving)
        case .didFetchChanges:
            try await fetches.endAll()
            context.reporter.ended()
            if context.configuration.syncsAutomatically { fetches.confirmZoneLater(engine) }
        case .willSendChanges:
            context.reporter.began(.sending)
            sender.beginRound()
        case .didSendChanges: context.reporter.ended()
        case .sentRecordZoneChanges(let event): try await sent(Responses(event), engine)
        default: break
        }
    }

    private func sent(_ responses: Responses, _ engine: CKSyncEngine) async throws {
        guard let (zone, outcome, wasUnanswered) = try await sender.receive(responses) else {
            return
        }
        // What had no response before was left out of this round: the hint brings another one.
        if wasUnanswered { engine.state.hasPendingUntrackedChanges = true }
        if outcome.needsZone {
            try await zoneDeleted(zone, outcome.userDeletedZone ? .purged : nil, engine)
        }
    }

    /// Handles a zone's deletion; the reason is nil when unknown.
    func zoneDeleted(
        _ zone: StoreZone,
        _ reason: CKDatabase.DatabaseChange.Deletion.Reason?,
        _ engine: CKSyncEngine
    ) async throws {
        if zone == .own { return try await ownZone.deleted(reason, engine) }
        try await fetches.end(shareOf: zone)
    }

    // MARK: Requests

    /// Fetches no zone while the app allows no connection; the changes remain to be fetched.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        var options = context.options
        if isOffline { options.scope = .zoneIDs([]) }
        return options
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        guard failure == nil, !isOffline else { return nil }
        do {
            return try await batch(context.options.scope, syncEngine)
        } catch {
            failed.withLock { $0 = error }
            return nil
        }
    }

    private func batch(
        _ scope: CKSyncEngine.SendChangesOptions.Scope,
        _ engine: CKSyncEngine
    ) async throws -> CKSyncEngine.RecordZoneChangeBatch? {
        while try await sender.maySend() {
            // Cleared before the outbox is read, because a later write sets the hint again.
            engine.state.hasPendingUntrackedChanges = false
            guard let (outgoing, deletions) = try await sender.next() else { return nil }
            let records = outgoing.saves.map(\.record)
            // All of its deletions were put off; the next batch leaves them out.
            guard !records.isEmpty || !deletions.isEmpty else { continue }
            return CKSyncEngine.RecordZoneChangeBatch(
                recordsToSave: records.filter { scope.contains($0.recordID) },
                recordIDsToDelete: deletions.filter { scope.contains($0) },
                // A refused record must not hold up the others.
                atomicByZone: false
            )
        }
        return nil
    }
}
