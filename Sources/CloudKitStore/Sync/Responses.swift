import CloudKit
import Foundation
import GRDB

/// A batch in flight.
struct InFlightBatch: Sendable {
    var zone = StoreZone.own
    /// The outbox entries of the batch, by record name.
    var entries: [String: OutboxEntry] = [:]
    /// The saves that include all changes of their entries, by record name.
    var sent: [String: SentRecord] = [:]
    /// The temporary files of its assets.
    var files: [URL] = []

    init() {}

    init(_ zone: StoreZone, _ batch: OutgoingBatch) {
        self.zone = zone
        entries = batch.entries
        sent = batch.sent
        files = batch.saves.flatMap(\.files)
    }
}

/// The server's responses to a batch.
struct Responses: Sendable {
    var batch = InFlightBatch()
    var saved: [SavedRecord] = []
    var deleted: [CKRecord.ID] = []
    var unsaved: [(CKRecord.ID, CKError)] = []
    var undeleted: [CKRecord.ID: CKError] = [:]

    var errors: [CKError] { unsaved.map(\.1) + undeleted.values }

    /// Applies the responses, within a transaction that writes the server's changes.
    func write(
        _ database: Database,
        _ mapping: RowMapping
    ) throws -> Acknowledgements.Outcome {
        var acknowledgements = try Acknowledgements(database, mapping, zone: batch.zone)
        try acknowledgements.accept(saved, batch.entries, batch.sent)
        try acknowledgements.adjustClock()
        for id in deleted {
            try acknowledgements.acceptDeletion(id.recordName, batch.entries[id.recordName])
        }
        let count = batch.entries.count
        for (id, error) in unsaved {
            let entry = batch.entries[id.recordName]
            try acknowledgements.refuse(id.recordName, error, entry, batchCount: count)
        }
        for (id, error) in undeleted.sorted(by: { $0.key.recordName < $1.key.recordName }) {
            let entry = batch.entries[id.recordName]
            // The record is deleted, whoever did it.
            if error.code == .unknownItem {
                try acknowledgements.acceptDeletion(id.recordName, entry)
            } else {
                try acknowledgements.refuse(id.recordName, error, entry, batchCount: count)
            }
        }
        try acknowledgements.resolveReferences()
        return acknowledgements.outcome
    }
}

extension Responses {
    init(_ event: CKSyncEngine.Event.SentRecordZoneChanges) {
        self.init(
            saved: event.savedRecords.map(SavedRecord.init),
            deleted: event.deletedRecordIDs,
            unsaved: event.failedRecordSaves.map { ($0.record.recordID, $0.error) },
            undeleted: event.failedRecordDeletes
        )
    }

    /// Creates the responses to a request without an engine.
    ///
    /// - Throws: The error of an item that is no `CKError`.
    init(
        _ saves: [CKRecord.ID: Result<CKRecord, any Error>],
        of records: [CKRecord],
        _ deletes: [CKRecord.ID: Result<Void, any Error>],
        of deletions: [CKRecord.ID]
    ) throws {
        self.init()
        for record in records {
            switch saves[record.recordID] {
            case .success(let record): saved.append(SavedRecord(record))
            case .failure(let error as CKError): unsaved.append((record.recordID, error))
            case .failure(let error): throw error
            // Without a response the note of the save stays, as after a lost one.
            case nil: continue
            }
        }
        for id in deletions {
            switch deletes[id] {
            case .success: deleted.append(id)
            case .failure(let error as CKError): undeleted[id] = error
            case .failure(let error): throw error
            case nil: continue
            }
        }
    }
}
