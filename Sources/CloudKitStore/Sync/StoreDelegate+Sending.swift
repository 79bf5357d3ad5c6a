import CloudKit
import Foundation
import GRDB
import Synchronization

extension StoreDelegate {
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        guard failure == nil, !isPaused(), configuration.isConnected() else { return nil }
        do {
            return try await batch(context.options.scope, syncEngine)
        } catch {
            state.withLock { $0.failure = error }
            return nil
        }
    }

    private func batch(
        _ scope: CKSyncEngine.SendChangesOptions.Scope,
        _ engine: CKSyncEngine
    ) async throws -> CKSyncEngine.RecordZoneChangeBatch? {
        while try await mayAsk(engine) {
            // Cleared before the outbox is read, because a later write sets the hint again.
            engine.state.hasPendingUntrackedChanges = false
            guard let (outgoing, deletions) = try await next(engine.database) else { return nil }
            let records = outgoing.saves.map(\.record)
            guard !records.isEmpty || !deletions.isEmpty else { continue }
            return CKSyncEngine.RecordZoneChangeBatch(
                recordsToSave: records.filter { scope.contains($0.recordID) },
                recordIDsToDelete: deletions.filter { scope.contains($0) },
                atomicByZone: false
            )
        }
        return nil
    }

    /// Returns the next batch, noted as in flight, with those of its deletions that may be sent;
    /// nil when there is nothing to send.
    func next(
        _ database: CKDatabase
    ) async throws -> (batch: OutgoingBatch, deletions: [CKRecord.ID])? {
        let (zone, outgoing) = try await build()
        guard !outgoing.isEmpty else { return nil }
        state.withLock { state in
            state.attempted.formUnion(outgoing.entries.values.map(\.version))
            state.inFlight = InFlightBatch(zone, outgoing)
        }
        return (outgoing, try await current(outgoing, database))
    }

    /// Builds the next batch, of the first zone that has one; waiting responses are written with it.
    private func build() async throws -> (zone: StoreZone, batch: OutgoingBatch) {
        let (attempted, limit, waiting) = state.withLock {
            ($0.attempted, $0.batchLimit, exchange(&$0.waiting, with: nil))
        }
        let (zone, batch, result) = try await file.writeDurably {
            [file, folder, freed, scope] database in
            let result = try waiting.map { answers in
                if !answers.errors.isEmpty { freed.forget() }
                return try ControlTables.applying(database, file.catalog) {
                    try answers.write(database, file.mapping)
                }
            }
            let zones =
                switch scope {
                case .own: [StoreZone.own]
                case .shared: try StoreFile.sharedZones(database)
                case .public: [.public]
                }
            for zone in zones {
                var builder = try BatchBuilder(
                    database,
                    file,
                    zone: zone,
                    folder: folder,
                    freed: freed
                )
                let batch = try builder.next(limit: limit, except: attempted)
                if !batch.isEmpty { return (zone, batch, result) }
            }
            return (.own, OutgoingBatch(), result)
        }
        if let waiting, let result { wrote(waiting, result) }
        return (zone, batch)
    }

    /// Returns whether anything may be sent now.
    private func mayAsk(_ engine: CKSyncEngine) async throws -> Bool {
        guard !state.withLock({ $0.isOverQuota }) else { return false }
        let control = try await file.control()
        return control.blocked == nil && control.account != nil
    }

    /// Returns the records of a batch that may be deleted: those whose version this device knows.
    ///
    /// CloudKit deletes any version. A record that was edited meanwhile stays until the edit is
    /// fetched and the table's rule has decided.
    private func current(
        _ outgoing: OutgoingBatch,
        _ database: CKDatabase
    ) async throws -> [CKRecord.ID] {
        guard !outgoing.deletions.isEmpty else { return [] }
        let zone = state.withLock { $0.inFlight.zone }
        let zoneID = file.id(zone)
        let ids = outgoing.deletions.map { CKRecord.ID(recordName: $0.name, zoneID: zoneID) }
        let found = try await database.records(for: ids, desiredKeys: [])
        var deletions: [CKRecord.ID] = []
        for (id, deletion) in zip(ids, outgoing.deletions) {
            switch found[id] {
            case .success(let record) where record.recordChangeTag == deletion.tag:
                deletions.append(id)
            case .success: state.withLock { $0.needsFetch = true }
            case .failure(let error as CKError) where error.code == .unknownItem:
                let entry = outgoing.entries[deletion.name]
                try await file.apply { database, mapping in
                    var answers = try Acknowledgements(database, mapping, zone: zone)
                    try answers.acceptDeletion(deletion.name, entry)
                    try answers.resolveReferences()
                }
            default: continue
            }
        }
        return deletions
    }
}
