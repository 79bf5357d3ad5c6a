import CloudKit
import Foundation

/// Sends the records of a graph in requests that are within the limits and atomic.
struct GraphSaver {
    /// The maximum number of items in a request that stays a single request everywhere.
    static let largestBatch = 200

    /// The maximum number of bytes in a request.
    static let largestRequest = 2_000_000

    /// The maximum number of records that may be deleted together with one target.
    static let mostDeletedWithTarget = 750

    let destination: any CloudKitRecordDestination
    let savePolicy: CKModifyRecordsOperation.RecordSavePolicy
    let progress: Progress?

    /// The outcome of a save.
    struct Outcome {
        /// The saved records, as the server has them.
        var saved: [CKRecord] = []

        /// The items that were sent without a response.
        var unanswered = UnconfirmedSave()

        /// The error that ended the save early.
        var error: (any Error)?
    }

    /// Saves the changed records of a graph in their order, and deletes others, until an error
    /// occurs.
    ///
    /// - Parameters:
    ///   - graph: The records.
    ///   - resentIDs: Records that are sent although they did not change.
    ///   - recordIDs: The records to delete.
    /// - Returns: The outcome of the save.
    func save(
        _ graph: EncodedGraph,
        resending resentIDs: Set<CKRecord.ID> = [],
        deleting recordIDs: [CKRecord.ID]
    ) async -> Outcome {
        // A record that is deleted needs no clearing.
        let deleted = Set(recordIDs)
        var records = graph.changed.filter { !deleted.contains($0.recordID) }
        let resent = resentIDs.subtracting(graph.changed.map(\.recordID))
        records += graph.records.filter { resent.contains($0.recordID) }
        var outcome = Outcome()
        do {
            // Records that did not change count too: the server has them.
            try checkDeletedWithTarget(graph.records)
            let batches = try batches(of: records)
            progress?.totalUnitCount += Int64(records.count + recordIDs.count)
            for batch in batches { try await modify(saving: batch, deleting: [], into: &outcome) }
            for start in stride(from: 0, to: recordIDs.count, by: Self.largestBatch) {
                let end = min(start + Self.largestBatch, recordIDs.count)
                let chunk = Array(recordIDs[start..<end])
                try await modify(saving: [], deleting: chunk, into: &outcome)
            }
        } catch {
            outcome.error = error
        }
        return outcome
    }

    // Sends one request, and resends items that were refused only because the server already has
    // another version. Saved records are returned even if the request ends with an error.
    private func modify(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID],
        into outcome: inout Outcome
    ) async throws {
        try Task.checkCancellation()
        if progress?.isCancelled == true { throw CancellationError() }
        outcome.unanswered.note(records, deleting: recordIDs)
        let results = try await destination.modify(
            saving: records,
            deleting: recordIDs,
            savePolicy: savePolicy
        )
        outcome.unanswered = UnconfirmedSave()
        var errors: [CKRecord.ID: any Error] = [:]
        for (recordID, result) in results.saveResults {
            if case .failure(let error) = result { errors[recordID] = error }
        }
        for (recordID, result) in results.deleteResults {
            if case .failure(let error) = result { errors[recordID] = error }
        }
        let stored = await alreadyStored(records, errors)
        for record in stored { errors[record.recordID] = nil }
        // Where requests are not atomic, the items that did not fail are saved.
        let storedIDs = Set(stored.map(\.recordID))
        let done = records.filter {
            errors[$0.recordID] == nil && !storedIDs.contains($0.recordID)
        }
        outcome.saved += try stored + done.map { try results.saveResults[$0.recordID]?.get() ?? $0 }
        let deleted = recordIDs.count { errors[$0] == nil }
        progress?.completedUnitCount += Int64(stored.count + done.count + deleted)
        if errors.isEmpty { return }
        guard !stored.isEmpty, errors.values.allSatisfy(Self.isCompanion) else {
            throw Self.error(of: errors, records)
        }
        let others = records.filter { errors[$0.recordID] != nil }
        try await modify(saving: others, deleting: [], into: &outcome)
    }

    /// Returns the server's records of those that the server already has as they were sent: an
    /// earlier save stored them, but its response was lost.
    private func alreadyStored(
        _ records: [CKRecord],
        _ errors: [CKRecord.ID: any Error]
    ) async -> [CKRecord] {
        let conflicts = records.compactMap { record -> (sent: CKRecord, newer: CKRecord)? in
            guard let error = errors[record.recordID] as? CKError,
                error.code == .serverRecordChanged, let newer = error.serverRecord,
                record.hasSameContents(as: newer, exceptFiles: true)
            else { return nil }
            return (record, newer)
        }
        var stored = conflicts.filter { $0.sent.hasSameContents(as: $0.newer) }.map(\.newer)
        let known = Set(stored.map(\.recordID))
        let open = conflicts.map(\.sent).filter { !known.contains($0.recordID) }
        // An error's record comes without its files.
        guard !open.isEmpty, let source = destination as? any CloudKitRecordSource,
            // Without these records, the conflicts remain errors.
            let fetched = try? await source.records(withIDs: open.map(\.recordID))
        else { return stored }
        for record in open {
            // As above.
            guard let newer = try? fetched[record.recordID]?.get(),
                record.hasSameContents(as: newer)
            else { continue }
            stored.append(newer)
        }
        return stored
    }

    /// Returns whether a record failed only because another one in its request did.
    private static func isCompanion(_ error: any Error) -> Bool {
        (error as? CKError)?.code == .batchRequestFailed
    }

    /// Returns the error of the unsaved items: the culprits without their companions, and a single
    /// culprit as its own error.
    private static func error(
        of errors: [CKRecord.ID: any Error],
        _ records: [CKRecord]
    ) -> any Error {
        let new = Set(records.filter { $0.recordChangeTag == nil }.map(\.recordID))
        let errors = Dictionary(
            uniqueKeysWithValues: errors.map { recordID, error in
                (recordID, new.contains(recordID) ? explained(error, recordID) : error)
            }
        )
        let culprits = errors.filter { !isCompanion($0.value) }
        if culprits.count == 1, let only = culprits.first { return only.value }
        let partial = culprits.isEmpty ? errors : culprits
        return CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: partial])
    }

    /// Returns the error of a record that was new to the graph but exists on the server, with a
    /// remedy.
    private static func explained(_ error: any Error, _ recordID: CKRecord.ID) -> any Error {
        guard let error = error as? CKError, error.code == .serverRecordChanged else {
            return error
        }
        var userInfo = error.userInfo
        let remedy = """
            The server has the record \(recordID.recordName), which this graph does not know. If \
            the model came from another graph, call takeRecords(from:) with that graph before saving; \
            otherwise save onto the server's record, which the error contains.
            """
        let reason = error.localizedDescription
        let end = reason.last?.isPunctuation == true ? "" : "."
        userInfo[NSLocalizedDescriptionKey] = "\(reason)\(end) \(remedy)"
        userInfo[NSLocalizedRecoverySuggestionErrorKey] = remedy
        return CKError(error.code, userInfo: userInfo)
    }

    // MARK: Limits

    private func batches(of records: [CKRecord]) throws -> [[CKRecord]] {
        var batches: [[CKRecord]] = []
        var batch: [CKRecord] = []
        var bytes = 0
        for record in records {
            let size = RecordSize(of: record)
            guard size.total <= RecordSize.limit else {
                throw CloudKitGraphError(
                    .limitExceeded,
                    """
                    the record takes \(size.total) bytes of \(RecordSize.limit), most of them in \
                    \(size.largest); store large fields with CloudKitField.asset
                    """,
                    type: record.recordType,
                    id: record.recordID,
                    path: []
                )
            }
            if batch.count == Self.largestBatch || bytes + size.total > Self.largestRequest {
                batches.append(batch)
                batch = []
                bytes = 0
            }
            batch.append(record)
            bytes += size.total
        }
        return batch.isEmpty ? batches : batches + [batch]
    }

    /// The server refuses to delete more than 750 records with one target, but only after it has
    /// saved some of them.
    private func checkDeletedWithTarget(_ records: [CKRecord]) throws {
        var counts: [CKRecord.ID: Int] = [:]
        for record in records {
            let targets = Set(
                record.allKeys().flatMap { record.references($0) }
                    .filter { $0.action == .deleteSelf }.map(\.recordID)
            )
            for target in targets {
                counts[target, default: 0] += 1
                guard counts[target, default: 0] > Self.mostDeletedWithTarget else { continue }
                throw CloudKitGraphError(
                    .limitExceeded,
                    """
                    more than \(Self.mostDeletedWithTarget) records refer to \(target.recordName) \
                    with .deleteSelf; use .none, and delete(_:) for the graph
                    """,
                    type: record.recordType,
                    id: record.recordID,
                    path: []
                )
            }
        }
    }
}

/// The items that a save sent without receiving a response: the server may have them.
///
/// They must be looked up before the next save: a value that returned to its former state does not
/// differ from the known record, so the server's newer version would remain unnoticed.
struct UnconfirmedSave {
    /// The records as they were sent.
    var records: [CKRecord.ID: CKRecord] = [:]

    /// The records that were to be deleted.
    var deletions: Set<CKRecord.ID> = []

    var isEmpty: Bool { records.isEmpty && deletions.isEmpty }

    /// The records whose state the server must report.
    var recordIDs: Set<CKRecord.ID> { deletions.union(records.keys) }

    /// Notes the sent items until a response arrives.
    mutating func note(_ sent: [CKRecord], deleting recordIDs: [CKRecord.ID]) {
        for record in sent { records[record.recordID] = record }
        deletions.formUnion(recordIDs)
    }

    mutating func formUnion(_ other: UnconfirmedSave) {
        records.merge(other.records) { _, later in later }
        deletions.formUnion(other.deletions)
    }

    /// Takes over the unanswered items of some records from another graph.
    mutating func take(_ recordIDs: Set<CKRecord.ID>, from other: inout UnconfirmedSave) {
        for recordID in recordIDs {
            if let record = other.records.removeValue(forKey: recordID) {
                records[recordID] = record
            }
            if other.deletions.remove(recordID) != nil { deletions.insert(recordID) }
        }
    }
}
