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
            // Before the outbox is read: a write that comes after it sets the hint again.
            engine.state.hasPendingUntrackedChanges = false
            let (zone, outgoing) = try await next()
            guard !outgoing.isEmpty else { return nil }
            state.withLock { state in
                state.zone = zone
                state.attempted.formUnion(outgoing.entries.values.map(\.version))
                state.entries = outgoing.entries
                state.files = outgoing.saves.flatMap(\.files)
            }
            let deletions = try await current(outgoing, engine.database)
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

    /// The next batch, of the first zone that has one.
    private func next() async throws -> (zone: String, batch: OutgoingBatch) {
        let (attempted, limit) = state.withLock { ($0.attempted, $0.batchLimit) }
        return try await file.writeDurably { [file, folder, scope] database in
            let zones = scope == .own ? [""] : try StoreFile.sharedZones(database)
            for zone in zones {
                var builder = try BatchBuilder(database, file, zone: zone, folder: folder)
                let batch = try builder.next(limit: limit, except: attempted)
                if file.mapping.defect == .clearsWhenSending {
                    for entry in batch.entries.values { try entry.clear(database) }
                }
                if !batch.isEmpty { return (zone, batch) }
            }
            return ("", OutgoingBatch())
        }
    }

    /// Whether anything may be sent now.
    private func mayAsk(_ engine: CKSyncEngine) async throws -> Bool {
        guard !state.withLock({ $0.isOverQuota }) else { return false }
        let control = try await file.control()
        return control.blocked == nil && control.account != nil
    }

    /// The records of a batch that may be deleted: those that are as this device knows them.
    ///
    /// CloudKit deletes whatever there is. A record that somebody edited meanwhile is left until the
    /// edit was fetched and the table's rule has decided.
    private func current(
        _ outgoing: OutgoingBatch,
        _ database: CKDatabase
    ) async throws -> [CKRecord.ID] {
        guard !outgoing.deletions.isEmpty else { return [] }
        let zoneID = file.id(state.withLock { $0.zone })
        let ids = outgoing.deletions.map { CKRecord.ID(recordName: $0.name, zoneID: zoneID) }
        if file.mapping.defect == .deletesBlindly { return ids }
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
                    var answers = try Acknowledgements(database, mapping)
                    try answers.acceptDeletion(deletion.name, entry)
                }
            default: continue
            }
        }
        return deletions
    }

    // MARK: Answers

    func sent(
        _ event: CKSyncEngine.Event.SentRecordZoneChanges,
        _ engine: CKSyncEngine
    ) async throws {
        let (zone, entries, files) = state.withLock { ($0.zone, $0.entries, $0.files) }
        let saved = event.savedRecords.map { RemoteRecord($0, file.mapping) }
        let count = entries.count
        let result = try await file.apply { database, mapping in
            var answers = try Acknowledgements(database, mapping, zone: zone)
            for record in saved { try answers.accept(record) }
            try answers.adjustClock()
            for id in event.deletedRecordIDs {
                try answers.acceptDeletion(id.recordName, entries[id.recordName])
            }
            for failure in event.failedRecordSaves {
                let name = failure.record.recordID.recordName
                try answers.refuse(name, failure.error, entries[name], batchCount: count)
            }
            for (id, error) in event.failedRecordDeletes.sorted(by: {
                $0.key.recordName < $1.key.recordName
            }) {
                let name = id.recordName
                guard error.code != .unknownItem else {
                    try answers.acceptDeletion(name, entries[name])
                    continue
                }
                try answers.refuse(name, error, entries[name], batchCount: count)
            }
            return answers.result
        }
        if state.withLock({ $0.unanswered }) != nil {
            engine.state.hasPendingUntrackedChanges = true
        }
        for file in files { try? FileManager.default.removeItem(at: file) }
        took(result.changes)
        state.withLock { state in
            state.summary.saved += event.savedRecords.count
            state.summary.deleted += event.deletedRecordIDs.count
            state.isOverQuota = result.isOverQuota
            // What nobody answered is tried again, as the engine does with its own list.
            let errors = event.failedRecordSaves.map(\.error) + event.failedRecordDeletes.values
            state.unanswered = errors.first(where: Acknowledgements.isUnanswered)
            if result.needsFetch { state.needsFetch = true }
            if result.wasTooLarge { state.batchLimit = max(1, count / 2) }
        }
        progressed(by: event.savedRecords.count + event.deletedRecordIDs.count)
        for reason in result.setAside { configuration.onEvent(.setAside(reason: reason)) }
        for key in result.takenBack {
            configuration.onEvent(.takenBack(table: key.table, key: key.text))
        }
        if result.isOverQuota { configuration.onEvent(.quotaExceeded) }
        if result.needsZone {
            try await zoneDeleted(zone, result.userDeletedZone ? .purged : nil, engine)
        }
    }
}
