import CloudKit
import Foundation
import GRDB
import Synchronization

/// The sender of a channel's changes: the outbox becomes batches, and the responses to one are written.
///
/// Responses without an error are written with the next batch, or before anything else happens. If the
/// process ends before, they are treated like lost responses.
final class ChangeSender: Sendable {
    private struct State {
        /// The versions that were sent in this round.
        var attempted: Set<Int64> = []
        /// The batch that was last passed to the engine.
        var inFlight = InFlightBatch()
        /// The responses that the file does not have yet.
        var waiting: Responses?
        var batchLimit: Int
        var isOverQuota = false
        /// `true` when a record to be deleted has changed on the server.
        var needsFetch = false
        /// The error of a request without a response.
        var unanswered: CKError?

        /// Returns responses with the batch in flight that they belong to.
        mutating func matched(_ responses: Responses) -> Responses {
            var responses = responses
            responses.batch = inFlight
            // Each record gets one response; a second one is compared with the file.
            inFlight.sent = [:]
            return responses
        }
    }

    private let context: SyncContext
    private let file: StoreFile
    private let folder: URL
    /// The values freed by the deletions of this round.
    private let freed = FreedValues()
    /// The places of new rows in this round.
    private let objects = ConnectedObjects()
    private let state: Mutex<State>

    init(_ context: SyncContext, folder: URL) {
        self.context = context
        file = context.file
        self.folder = folder
        state = Mutex(State(batchLimit: context.configuration.batchLimit))
    }

    var isOverQuota: Bool { state.withLock { $0.isOverQuota } }
    /// The error of a request without a response in this round.
    var unanswered: CKError? { state.withLock { $0.unanswered } }

    func beginRound() {
        freed.forget()
        objects.forget()
        state.withLock {
            $0.attempted = []
            $0.unanswered = nil
            $0.isOverQuota = false
        }
    }

    /// Returns and forgets whether a fetch is needed before more can be sent.
    func takeNeedsFetch() -> Bool { state.withLock { exchange(&$0.needsFetch, with: false) } }

    // MARK: Batches

    /// Returns whether anything may be sent now.
    func maySend() async throws -> Bool {
        guard !isOverQuota else { return false }
        let control = try await file.control()
        return control.blocked == nil && control.account != nil
    }

    /// Returns the next batch, noted as in flight, with those of its deletions that may be sent;
    /// nil when there is nothing to send.
    func next() async throws -> (batch: OutgoingBatch, deletions: [CKRecord.ID])? {
        let (zone, outgoing) = try await build()
        guard !outgoing.isEmpty else { return nil }
        state.withLock { state in
            state.attempted.formUnion(outgoing.entries.values.map(\.version))
            state.inFlight = InFlightBatch(zone, outgoing)
        }
        return (outgoing, try await current(outgoing, zone))
    }

    /// Builds the next batch, of the first zone that has one; waiting responses are written with it.
    private func build() async throws -> (zone: StoreZone, batch: OutgoingBatch) {
        let (attempted, limit, waiting) = state.withLock {
            ($0.attempted, $0.batchLimit, exchange(&$0.waiting, with: nil))
        }
        // The responses and the next batch share a durable transaction, so the disk is waited for
        // once.
        let (zone, batch, outcome, shown) = try await file.writeDurably {
            [file, folder, freed, objects, scope = context.scope] database in
            let outcome = try waiting.map { responses in
                if !responses.errors.isEmpty { freed.forget() }
                return try ControlTables.applying(database, file.catalog) {
                    try responses.write(database, file.mapping)
                }
            }
            try objects.placeAll(database, file.mapping)
            var shown: [RowChange] = []
            for zone in try scope.zones(database) {
                var builder = try BatchBuilder(
                    database,
                    file,
                    zone: zone,
                    folder: folder,
                    freed: freed,
                    objects: objects
                )
                let batch = try builder.next(limit: limit, except: attempted)
                if batch.freesKeys, builder.hasPlaces {
                    shown += try ControlTables.applying(database, file.catalog) {
                        let applier = try ChangeApplier(database, file.mapping, zone: zone)
                        try applier.retryTakenKeys()
                        return applier.changes
                    }
                }
                if !batch.isEmpty { return (zone, batch, outcome, shown) }
            }
            return (.own, OutgoingBatch(), outcome, shown)
        }
        context.reporter.received(shown)
        if let waiting, let outcome { wrote(waiting, outcome) }
        return (zone, batch)
    }

    /// Returns the records of a batch that may be deleted: those whose version this device knows.
    ///
    /// CloudKit deletes any version. A record that was edited meanwhile stays until the edit is
    /// fetched and the table's rule has decided. One that became the top of another user's share
    /// stays with all records below it. Of the others the last version is kept here.
    private func current(
        _ outgoing: OutgoingBatch,
        _ zone: StoreZone
    ) async throws -> [CKRecord.ID] {
        guard !outgoing.deletions.isEmpty else { return [] }
        let zoneID = file.id(zone)
        let ids = outgoing.deletions.map { CKRecord.ID(recordName: $0.name, zoneID: zoneID) }
        let above = outgoing.deletedAbove.map { CKRecord.ID(recordName: $0, zoneID: zoneID) }
        let found = try await context.database.records(
            for: ids + above.filter { !ids.contains($0) },
            desiredKeys: fieldsToKeep(of: outgoing)
        )
        let kept = zone.isShared ? try await bringBackTops(among: found, zone) : []
        var deletions: [CKRecord.ID] = []
        var last: [CKRecord] = []
        for (id, deletion) in zip(ids, outgoing.deletions) where !kept.contains(deletion.name) {
            switch found[id] {
            case .success(let record) where record.recordChangeTag == deletion.tag:
                deletions.append(id)
                last.append(record)
            case .success: state.withLock { $0.needsFetch = true }
            case .failure(let error as CKError) where error.code == .unknownItem:
                // The server refuses to delete another user's record that is only out of sight.
                guard !zone.isShared else {
                    deletions.append(id)
                    continue
                }
                let entry = outgoing.entries[deletion.name]
                try await file.apply { database, mapping in
                    var acknowledgements = try Acknowledgements(database, mapping, zone: zone)
                    try acknowledgements.acceptDeletion(deletion.name, entry)
                    try acknowledgements.resolveReferences()
                }
            // Nobody knows whether the server has the record: the deletion is tried again.
            default: continue
            }
        }
        // Before the deletion is sent: afterwards nobody could fetch them.
        try await keep(last, zone)
        return deletions
    }

    /// Returns the fields of the records to be deleted that another device's edit may need.
    private func fieldsToKeep(of outgoing: OutgoingBatch) -> [CKRecord.FieldKey] {
        // Only there can another device's edit survive. Records in another client's format have no
        // stamp to compare.
        let names = outgoing.deletions.compactMap { outgoing.entries[$0.name]?.key.table }
        let tables = Set(names).compactMap { file.catalog[$0] }
            .filter { $0.declaration.deletion == .editWins && $0.format == nil }
        guard !tables.isEmpty else { return [] }
        let fields = tables.flatMap { $0.byField.keys.filter($0.isRestorable) }
        return Set(fields).sorted()
            + [RecordStamp.field, RecordForms.field, RecordForms.encryptedField]
    }

    /// Keeps the last versions of records that are about to be deleted.
    private func keep(_ records: [CKRecord], _ zone: StoreZone) async throws {
        let mapping = file.mapping
        let last = records.compactMap { record -> (name: String, record: DeletedRecord)? in
            // Another client's record that cannot be read has no edits of this store's.
            guard let fields = try? RemoteRecord(record, mapping).fields.get() else { return nil }
            let kept = DeletedRecord(zone: zone, fields: fields, wasShared: record.share != nil)
            return (record.recordID.recordName, kept)
        }
        guard !last.isEmpty else { return }
        try await file.writer.write { database in
            for (name, record) in last { try record.save(database, name) }
        }
    }

    /// Reverts the deletions of records that other users share as the tops of trees, with those of
    /// all records below them.
    ///
    /// - Returns: The names of the records that stay.
    /// - Throws: An error of the file.
    private func bringBackTops(
        among found: [CKRecord.ID: Result<CKRecord, any Error>],
        _ zone: StoreZone
    ) async throws -> Set<String> {
        let tops = found.compactMap { id, result -> String? in
            guard case .success(let record) = result, record.share != nil else { return nil }
            return id.recordName
        }
        guard !tops.isEmpty else { return [] }
        let (changes, refused) = try await file.apply { database, mapping in
            let applier = try ChangeApplier(database, mapping, zone: zone)
            let known = try KnownRecord.fetch(database, names: tops)
            try applier.bringBack(known.values.compactMap(\.key).sorted { $0.text < $1.text })
            return (applier.changes, applier.editsRefused)
        }
        context.reporter.received(changes)
        context.reporter.editsRefused(refused)
        state.withLock { $0.needsFetch = true }
        return Set(
            try refused.compactMap { key in
                try file.catalog[key.table].map(key.recordName)
            }
        )
    }

    // MARK: Responses

    /// Receives the responses to the batch in flight, to be written later if they may wait.
    ///
    /// - Returns: Their outcome with the batch's zone, and whether the previous request had no response;
    ///   nil when they wait.
    /// - Throws: An error of the file.
    func receive(
        _ responses: Responses
    ) async throws -> (zone: StoreZone, outcome: Acknowledgements.Outcome, wasUnanswered: Bool)? {
        // After an error, a lost response or a full quota, the outcome decides what is sent next.
        let (mayWait, wasUnanswered) = state.withLock {
            (!$0.isOverQuota && responses.errors.isEmpty, $0.unanswered != nil)
        }
        if mayWait, !wasUnanswered {
            state.withLock { $0.waiting = $0.matched(responses) }
            return nil
        }
        let (zone, outcome) = try await write(responses)
        return (zone, outcome, wasUnanswered)
    }

    /// Writes the responses to the batch in flight.
    @discardableResult
    func write(
        _ responses: Responses
    ) async throws -> (zone: StoreZone, outcome: Acknowledgements.Outcome) {
        let responses = state.withLock { $0.matched(responses) }
        return (responses.batch.zone, try await apply(responses))
    }

    /// Writes the waiting responses.
    ///
    /// - Throws: An error of the file.
    func finish() async throws {
        guard let responses = state.withLock({ exchange(&$0.waiting, with: nil) }) else { return }
        try await apply(responses)
    }

    @discardableResult
    private func apply(_ responses: Responses) async throws -> Acknowledgements.Outcome {
        let outcome = try await file.apply { try responses.write($0, $1) }
        wrote(responses, outcome)
        return outcome
    }

    /// Reports the outcome of written responses.
    private func wrote(_ responses: Responses, _ outcome: Acknowledgements.Outcome) {
        // What stays is removed with the folder.
        for file in responses.batch.files { try? FileManager.default.removeItem(at: file) }
        let reporter = context.reporter
        reporter.received(outcome.changes)
        state.withLock { state in
            state.isOverQuota = outcome.isOverQuota
            // A request without a response is retried, as the engine does with its own list.
            state.unanswered = responses.errors.first(where: Acknowledgements.isUnanswered)
            if outcome.needsFetch { state.needsFetch = true }
            // How many records fit depends on their sizes, so the limit is halved until they do.
            if outcome.wasTooLarge { state.batchLimit = max(1, responses.batch.entries.count / 2) }
        }
        reporter.sent(
            saved: responses.saved.count,
            deleted: responses.deleted.count,
            isOverQuota: outcome.isOverQuota
        )
        for reason in outcome.quarantined { reporter.onEvent(.quarantined(reason: reason)) }
        reporter.editsRefused(outcome.editsRefused)
        reporter.replacedByDuplicate(outcome.replacedByDuplicate)
        if outcome.isOverQuota { reporter.onEvent(.quotaExceeded) }
    }
}
