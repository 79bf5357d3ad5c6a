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

    /// The next batch, noted as under way, and those of its deletions that may be done; nil when
    /// there is nothing to send.
    func next(
        _ database: CKDatabase
    ) async throws -> (batch: OutgoingBatch, deletions: [CKRecord.ID])? {
        let (zone, outgoing) = try await build()
        guard !outgoing.isEmpty else { return nil }
        state.withLock { state in
            state.zone = zone
            state.attempted.formUnion(outgoing.entries.values.map(\.version))
            state.entries = outgoing.entries
            state.sent = outgoing.sent
            state.files = outgoing.saves.flatMap(\.files)
        }
        return (outgoing, try await current(outgoing, database))
    }

    /// The next batch, of the first zone that has one.
    private func build() async throws -> (zone: String, batch: OutgoingBatch) {
        let (attempted, limit) = state.withLock { ($0.attempted, $0.batchLimit) }
        return try await file.writeDurably { [file, folder, scope] database in
            let zones =
                switch scope {
                case .own: [""]
                case .shared: try StoreFile.sharedZones(database)
                case .public: [StoreFile.publicZone]
                }
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
        let wasUnanswered = state.withLock { $0.unanswered } != nil
        let (zone, result) = try await take(
            Answers(
                saved: event.savedRecords,
                deleted: event.deletedRecordIDs,
                unsaved: event.failedRecordSaves.map { ($0.record.recordID, $0.error) },
                undeleted: event.failedRecordDeletes
            )
        )
        if wasUnanswered { engine.state.hasPendingUntrackedChanges = true }
        if result.needsZone {
            try await zoneDeleted(zone, result.userDeletedZone ? .purged : nil, engine)
        }
    }

    /// What the server said of a batch.
    struct Answers: Sendable {
        var saved: [CKRecord] = []
        var deleted: [CKRecord.ID] = []
        var unsaved: [(CKRecord.ID, CKError)] = []
        var undeleted: [CKRecord.ID: CKError] = [:]
    }

    /// Takes in the answers to the batch under way.
    func take(
        _ event: Answers
    ) async throws -> (zone: String, result: Acknowledgements.Result) {
        let (zone, entries, sent, files) = state.withLock { state in
            (state.zone, state.entries, exchange(&state.sent, with: [:]), state.files)
        }
        let saved = event.saved.map(SavedRecord.init)
        let count = entries.count
        let result = try await file.apply { database, mapping in
            var answers = try Acknowledgements(database, mapping, zone: zone)
            try answers.accept(saved, entries, sent)
            try answers.adjustClock()
            for id in event.deleted {
                try answers.acceptDeletion(id.recordName, entries[id.recordName])
            }
            for (id, error) in event.unsaved {
                let name = id.recordName
                try answers.refuse(name, error, entries[name], batchCount: count)
            }
            for (id, error) in event.undeleted.sorted(by: {
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
        for file in files { try? FileManager.default.removeItem(at: file) }
        took(result.changes)
        state.withLock { state in
            state.summary.saved += event.saved.count
            state.summary.deleted += event.deleted.count
            state.isOverQuota = result.isOverQuota
            // What nobody answered is tried again, as the engine does with its own list.
            let errors = event.unsaved.map(\.1) + event.undeleted.values
            state.unanswered = errors.first(where: Acknowledgements.isUnanswered)
            if result.needsFetch { state.needsFetch = true }
            if result.wasTooLarge { state.batchLimit = max(1, count / 2) }
        }
        progressed(by: event.saved.count + event.deleted.count)
        for reason in result.setAside { configuration.onEvent(.setAside(reason: reason)) }
        for key in result.takenBack {
            configuration.onEvent(.takenBack(table: key.table, key: key.text))
        }
        if result.isOverQuota { configuration.onEvent(.quotaExceeded) }
        return (zone, result)
    }
}
