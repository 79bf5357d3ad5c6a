import CloudKitWebClient
import CloudKitWire
import Foundation

/// The part of a modification in one zone, which is atomic as far as one request can hold it.
///
/// Assets are uploaded first, then the records; a record whose assets or values cannot be sent
/// fails alone, or with its whole zone if the modification is atomic. For conflicts the server's
/// version is fetched, because web services leave it out of the error.
struct ZoneModification {
    private let modification: RecordModification
    private let zoneID: CKRecordZone.ID
    private let context: DatabaseRequests.Context
    private(set) var saveResults: [CKRecord.ID: Result<CKRecord, any Error>] = [:]
    private(set) var deleteResults: [CKRecord.ID: Result<Void, any Error>] = [:]
    /// `true` when another user's share was left.
    private(set) var hasLeftShare = false

    init(
        _ modification: RecordModification,
        zoneID: CKRecordZone.ID,
        context: DatabaseRequests.Context
    ) {
        self.modification = modification
        self.zoneID = zoneID
        self.context = context
    }

    /// `false` in the default zone and the public database, which have no atomic requests.
    private var isAtomic: Bool {
        modification.atomically && zoneID.zoneName != CKRecordZone.ID.defaultZoneName
            && context.database != .public
    }

    /// `true` when the server has completed a part, so that an error does not apply to the whole.
    var isPartlyDone: Bool {
        // The errors are in the results.
        saveResults.values.contains { (try? $0.get()) != nil } || !deleteResults.isEmpty
    }

    /// Sends all changes.
    ///
    /// - Throws: An error when a request fails as a whole; results of earlier responses are kept.
    mutating func run() async throws(CKError) {
        let isTooLarge = failOversized()
        guard !isAtomic || saveResults.isEmpty else {
            return fail(Self.companionFailed)
        }
        let uploads = try await AssetUploads(
            of: modification.saving.filter { !isTooLarge.contains($0.recordID) },
            zoneID: zoneID,
            context: context,
            progress: modification.progress
        )
        let (records, operations) = saves(uploads)
        guard !isAtomic || saveResults.isEmpty else {
            return fail(Self.companionFailed)
        }
        let requestCount = try await send(operations, records, deleting: modification.deleting)
        if requestCount > 1, !isAtomic { try await deleteAgain() }
        try await addServerRecords()
    }

    /// Sets an error for every item that has no result yet.
    mutating func fail(_ error: CKError) {
        for record in modification.saving where saveResults[record.recordID] == nil {
            saveResults[record.recordID] = .failure(error)
        }
        for recordID in modification.deleting where deleteResults[recordID] == nil {
            deleteResults[recordID] = .failure(error)
        }
    }

    private static var companionFailed: CKError {
        CKError(.batchRequestFailed, message: "Another item of the same batch failed")
    }

    /// Fails the records that are too large without their files, before those are uploaded.
    private mutating func failOversized() -> Set<CKRecord.ID> {
        var isTooLarge: Set<CKRecord.ID> = []
        for record in modification.saving where !record.changedAssets.isEmpty {
            // Other values that cannot be sent are found when the files are uploaded.
            guard
                let operation = try? context.records.operation(
                    saving: record,
                    policy: modification.policy,
                    upload: { _, _ in WireAsset() }
                )
            else { continue }
            do {
                try checkSize(of: operation.record)
            } catch {
                saveResults[record.recordID] = .failure(error)
                isTooLarge.insert(record.recordID)
            }
        }
        return isTooLarge
    }

    /// Returns the operations of the records that can be sent; the others fail.
    private mutating func saves(
        _ uploads: AssetUploads
    ) -> (records: [CKRecord], operations: [RecordOperation]) {
        var records: [CKRecord] = []
        var operations: [RecordOperation] = []
        for record in modification.parentsFirst where saveResults[record.recordID] == nil {
            do {
                if let failure = uploads.failures[record.recordID] { throw failure }
                var operation = try context.records.operation(
                    saving: record,
                    policy: modification.policy
                ) { key, asset throws(UnsendableValue) in
                    try uploads.receipt(of: asset, in: record, field: key)
                }
                if isRootOfNewShare(record) { operation.record.createShortGUID = true }
                try checkSize(of: operation.record)
                records.append(record)
                operations.append(operation)
            } catch {
                saveResults[record.recordID] = .failure(error)
            }
        }
        return (records, operations)
    }

    private func isRootOfNewShare(_ record: CKRecord) -> Bool {
        modification.saving.contains { share in
            guard let share = share as? CKShare, share.recordChangeTag == nil else { return false }
            return share.parts.rootRecordID?.isEqual(record.recordID) ?? false
        }
    }

    private func checkSize(of record: WireRecord) throws(CKError) {
        let size = record.byteCount
        guard size > Limits.recordBytes else { return }
        let largest = record.fields
            .map { (key: $0.key, bytes: $0.value.value?.byteCount ?? 0) }
            .sorted { ($1.bytes, $0.key) < ($0.bytes, $1.key) }
            .prefix(3)
            .map { "\($0.key) (\($0.bytes) bytes)" }
            .joined(separator: ", ")
        throw CKError(
            .limitExceeded,
            message: "Record \(record.recordName ?? "") of type \(record.recordType ?? "") has "
                + "\(size) bytes; the limit is \(Limits.recordBytes). Its largest "
                + "fields are \(largest): keep large values in a CKAsset"
        )
    }

    /// Sends the operations that save records, and the deletions; returns the number of requests.
    @discardableResult
    private mutating func send(
        _ operations: [RecordOperation],
        _ records: [CKRecord],
        deleting recordIDs: [CKRecord.ID]
    ) async throws(CKError) -> Int {
        let deletions = recordIDs.map {
            RecordOperation(.forceDelete, WireRecord(recordName: $0.recordName))
        }
        var requestCount = 0
        var results: [ItemResult<WireRecord>] = []
        var failure: CKError?
        do {
            // The response need not repeat the sent fields.
            try await context.client.modify(
                operations + deletions,
                zoneID: context.owners.wire(zoneID),
                atomic: isAtomic,
                desiredKeys: [],
                in: context.database
            ) {
                results += $0
                requestCount += 1
            }
        } catch {
            failure = CKError(error)
        }
        for (record, result) in zip(records, results) { take(result, for: record) }
        for (recordID, result) in zip(recordIDs, results.dropFirst(records.count)) {
            take(result, for: recordID)
        }
        if let failure { throw failure }
        return requestCount
    }

    /// Deletes records again that were kept because records below them were sent with a later
    /// request.
    private mutating func deleteAgain() async throws(CKError) {
        var kept = modification.deleting
        while true {
            let stillKept = kept.filter {
                guard case .failure(let error as CKError) = deleteResults[$0] else { return false }
                return error.code == .referenceViolation
            }
            guard !stillKept.isEmpty, stillKept.count < kept.count else { return }
            kept = stillKept
            try await send([], [], deleting: kept)
        }
    }

    private mutating func take(_ result: ItemResult<WireRecord>, for record: CKRecord) {
        switch result {
        case .success(let wire):
            let mapping = context.records
            record.acknowledge { mapping.update(&$0, from: wire) }
            if let share = record as? CKShare {
                share.parts = mapping.shares.native(wire, previous: share.parts)
            }
            modification.progress(record, 1)
            saveResults[record.recordID] = .success(record)
        case .failure(let error): saveResults[record.recordID] = .failure(itemError(error))
        }
    }

    private mutating func take(_ result: ItemResult<WireRecord>, for recordID: CKRecord.ID) {
        switch result {
        case .success(let wire):
            deleteResults[recordID] = .success(())
            if context.database == .shared, wire.isOfShare { hasLeftShare = true }
        // A missing record counts as deleted.
        case .failure(let error) where error.serverErrorCode == .notFound:
            deleteResults[recordID] = .success(())
        case .failure(let error): deleteResults[recordID] = .failure(itemError(error))
        }
    }

    /// Returns an item's error; `notAuthenticated` for a refusal without a signed-in user.
    private func itemError(_ error: ItemError) -> CKError {
        guard error.serverErrorCode == .accessDenied, error.nativeErrorCode == nil,
            !context.isSomebody
        else {
            return CKError(error)
        }
        return CKError(
            .notAuthenticated,
            message: "\(error.reason ?? error.serverErrorCode.rawValue): no user is signed in",
            cause: error
        )
    }

    /// Adds the server's records to the conflicts, without downloading their assets.
    private mutating func addServerRecords() async throws(CKError) {
        let conflicts = modification.saving.filter {
            guard case .failure(let error as CKError) = saveResults[$0.recordID] else {
                return false
            }
            return error.code == .serverRecordChanged
        }
        guard !conflicts.isEmpty else { return }
        let results = try await native { () throws(WebClientError) in
            try await context.client.lookup(
                conflicts.map(\.recordID.recordName),
                zoneID: context.owners.wire(zoneID),
                in: context.database
            )
        }
        let servers = await context.materialize(results, home: zoneID, assets: .none)
        for (record, server) in zip(conflicts, servers) {
            saveResults[record.recordID] = .failure(conflict(record, server))
        }
    }

    private func version(of server: CKRecord) -> String {
        context.client.cleaned(server.recordChangeTag ?? "unknown")
    }

    private func conflict(
        _ record: CKRecord,
        _ server: Result<CKRecord, any Error>
    ) -> any Error {
        switch server {
        // The record was deleted between the save and the fetch.
        case .failure(let error): error
        case .success(let server):
            CKError(
                .serverRecordChanged,
                message: "Record \(record.recordID.recordName) of type \(record.recordType) "
                    + "changed on the server (version \(version(of: server)), yours "
                    + "\(record.recordChangeTag ?? "new")): copy the values you want to keep "
                    + "to the error's server record, and save that",
                userInfo: [
                    CKRecordChangedErrorServerRecordKey: server,
                    CKRecordChangedErrorClientRecordKey: record,
                    CKRecordChangedErrorAncestorRecordKey: record.ancestor,
                ]
            )
        }
    }
}

extension WireRecord {
    /// `true` when a tombstone is that of a share; without a type, its name decides.
    fileprivate var isOfShare: Bool {
        if let recordType { return recordType == Self.shareType }
        return recordName == CKRecordNameZoneWideShare || recordName?.hasPrefix("Share-") == true
    }
}
