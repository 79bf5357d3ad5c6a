import CloudKit
import Foundation

/// Sends the records of a graph in requests that are each within the limits and atomic.
struct GraphSaver {
    /// The most items in a request that stays one request everywhere.
    static let largestBatch = 200

    /// The most bytes in a request.
    static let largestRequest = 2_000_000

    /// The most records that may go with one target when it is deleted.
    static let mostDeletedWithTarget = 750

    let destination: any CloudKitRecordDestination
    let savePolicy: CKModifyRecordsOperation.RecordSavePolicy
    let progress: Progress?

    /// Saves the records of a graph that changed, in their order, and deletes others, as far as it
    /// goes.
    ///
    /// - Returns: The records that were saved, and the error that ended it.
    func save(
        _ graph: EncodedGraph,
        deleting recordIDs: [CKRecord.ID]
    ) async -> (saved: [CKRecord], error: (any Error)?) {
        // What is deleted needs no clearing.
        let deleted = Set(recordIDs)
        let records = graph.changed.filter { !deleted.contains($0.recordID) }
        var saved: [CKRecord] = []
        do {
            // Records that did not change count too: the server has them.
            try checkDeletedWithTarget(graph.records)
            let batches = try batches(of: records)
            progress?.totalUnitCount += Int64(records.count + recordIDs.count)
            for batch in batches { saved += try await modify(saving: batch, deleting: []) }
            for start in stride(from: 0, to: recordIDs.count, by: Self.largestBatch) {
                let end = min(start + Self.largestBatch, recordIDs.count)
                _ = try await modify(saving: [], deleting: Array(recordIDs[start..<end]))
            }
            return (saved, nil)
        } catch {
            return (saved, error)
        }
    }

    private func modify(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord] {
        try Task.checkCancellation()
        if progress?.isCancelled == true { throw CancellationError() }
        let results = try await destination.modify(
            saving: records,
            deleting: recordIDs,
            savePolicy: savePolicy
        )
        var errors: [CKRecord.ID: any Error] = [:]
        for (recordID, result) in results.saveResults {
            if case .failure(let error) = result { errors[recordID] = error }
        }
        for (recordID, result) in results.deleteResults {
            if case .failure(let error) = result { errors[recordID] = error }
        }
        if !errors.isEmpty {
            let stored = Self.alreadyStored(records, errors)
            guard !stored.isEmpty else { throw Self.error(of: errors, records) }
            // Where requests are not atomic, what did not fail is saved.
            let done = stored + results.saveResults.values.compactMap { try? $0.get() }
            progress?.completedUnitCount += Int64(done.count)
            let doneIDs = Set(done.map(\.recordID))
            let others = records.filter { !doneIDs.contains($0.recordID) }
            return others.isEmpty ? done : try await done + modify(saving: others, deleting: [])
        }
        progress?.completedUnitCount += Int64(records.count + recordIDs.count)
        return try records.map { try results.saveResults[$0.recordID]?.get() ?? $0 }
    }

    /// The server's records of a request that failed for nothing but records that the server has as
    /// they were sent: they were saved before, and the answer was lost.
    private static func alreadyStored(
        _ records: [CKRecord],
        _ errors: [CKRecord.ID: any Error]
    ) -> [CKRecord] {
        let sent = Dictionary(records.map { ($0.recordID, $0) }) { _, later in later }
        var stored: [CKRecord] = []
        for (recordID, error) in errors {
            guard let error = error as? CKError else { return [] }
            if error.code == .batchRequestFailed { continue }
            guard error.code == .serverRecordChanged, let newer = error.serverRecord,
                let record = sent[recordID], record.hasSameContents(as: newer)
            else { return [] }
            stored.append(newer)
        }
        return stored
    }

    /// The error of a request of which nothing was saved: the culprits without their companions,
    /// and one culprit by itself.
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
        let culprits = errors.filter { ($0.value as? CKError)?.code != .batchRequestFailed }
        if culprits.count == 1, let only = culprits.first { return only.value }
        let partial = culprits.isEmpty ? errors : culprits
        return CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: partial])
    }

    /// The error of a record that the graph took for new and that the server has, with what to do.
    private static func explained(_ error: any Error, _ recordID: CKRecord.ID) -> any Error {
        guard let error = error as? CKError, error.code == .serverRecordChanged else {
            return error
        }
        var userInfo = error.userInfo
        let remedy = """
            The server has the record \(recordID.recordName), of which this graph does not know. If \
            the model came from another graph, call takeRecords(from:) with that graph before saving; \
            else save onto the server's record, which is in the error.
            """
        userInfo[NSLocalizedDescriptionKey] = "\(error.localizedDescription) \(remedy)"
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

    /// More than 750 records that go with one target are refused by the server, after it has taken
    /// some of them.
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
