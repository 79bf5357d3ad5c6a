import CloudKit
import Foundation
import GRDB
import Synchronization

extension StoreDelegate {
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
    struct Answers: Sendable {
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
            var answers = try Acknowledgements(database, mapping, zone: batch.zone)
            try answers.accept(saved, batch.entries, batch.sent)
            try answers.adjustClock()
            for id in deleted {
                try answers.acceptDeletion(id.recordName, batch.entries[id.recordName])
            }
            let count = batch.entries.count
            for (id, error) in unsaved {
                let entry = batch.entries[id.recordName]
                try answers.refuse(id.recordName, error, entry, batchCount: count)
            }
            for (id, error) in undeleted.sorted(by: { $0.key.recordName < $1.key.recordName }) {
                let entry = batch.entries[id.recordName]
                if error.code == .unknownItem {
                    try answers.acceptDeletion(id.recordName, entry)
                } else {
                    try answers.refuse(id.recordName, error, entry, batchCount: count)
                }
            }
            try answers.resolveReferences()
            return answers.outcome
        }
    }

    func sent(
        _ event: CKSyncEngine.Event.SentRecordZoneChanges,
        _ engine: CKSyncEngine
    ) async throws {
        let answers = Answers(
            saved: event.savedRecords.map(SavedRecord.init),
            deleted: event.deletedRecordIDs,
            unsaved: event.failedRecordSaves.map { ($0.record.recordID, $0.error) },
            undeleted: event.failedRecordDeletes
        )
        let (mayWait, wasUnanswered) = state.withLock {
            (!$0.isOverQuota && answers.errors.isEmpty, $0.unanswered != nil)
        }
        // Responses without an error are written with the next batch, or before anything else
        // happens. If the process ends before, they are treated like lost responses.
        if mayWait, !wasUnanswered {
            return state.withLock { $0.waiting = $0.answers(answers) }
        }
        let (zone, result) = try await take(answers)
        if wasUnanswered { engine.state.hasPendingUntrackedChanges = true }
        if result.needsZone {
            try await zoneDeleted(zone, result.userDeletedZone ? .purged : nil, engine)
        }
    }

    /// Writes the waiting responses.
    ///
    /// - Throws: An error of the file.
    func finishAnswers() async throws {
        guard let answers = state.withLock({ exchange(&$0.waiting, with: nil) }) else { return }
        try await write(answers)
    }

    /// Receives the responses to the batch in flight.
    func take(
        _ answers: Answers
    ) async throws -> (zone: StoreZone, result: Acknowledgements.Outcome) {
        let answers = state.withLock { $0.answers(answers) }
        return (answers.batch.zone, try await write(answers))
    }

    @discardableResult
    private func write(_ answers: Answers) async throws -> Acknowledgements.Outcome {
        let result = try await file.apply { try answers.write($0, $1) }
        wrote(answers, result)
        return result
    }

    /// Reports the results of responses.
    func wrote(_ answers: Answers, _ result: Acknowledgements.Outcome) {
        for file in answers.batch.files { try? FileManager.default.removeItem(at: file) }
        took(result.changes)
        state.withLock { state in
            state.summary.saved += answers.saved.count
            state.summary.deleted += answers.deleted.count
            state.isOverQuota = result.isOverQuota
            if result.isOverQuota { state.summary.isOverQuota = true }
            // A request without a response is retried, as the engine does with its own list.
            state.unanswered = answers.errors.first(where: Acknowledgements.isUnanswered)
            if result.needsFetch { state.needsFetch = true }
            if result.wasTooLarge { state.batchLimit = max(1, answers.batch.entries.count / 2) }
        }
        progressed(by: answers.saved.count + answers.deleted.count)
        for reason in result.quarantined { configuration.onEvent(.quarantined(reason: reason)) }
        for key in result.editsRefused {
            configuration.onEvent(.editsRefused(table: key.table, key: key.text))
        }
        tell(result.replacedByDuplicate)
        if result.isOverQuota { configuration.onEvent(.quotaExceeded) }
    }
}

extension StoreDelegate.State {
    /// Returns responses with the batch in flight that they belong to.
    fileprivate mutating func answers(_ answers: StoreDelegate.Answers) -> StoreDelegate.Answers {
        var answers = answers
        answers.batch = inFlight
        // Each record gets one response; a second one is compared with the file.
        inFlight.sent = [:]
        return answers
    }
}
