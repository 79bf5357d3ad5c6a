extension CKDatabase {
    /// Fetches records; the result has an entry for every ID.
    ///
    /// - Throws: An error when the request fails as a whole; a record's own error is its result.
    public func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await requests.fetch(ids, desiredKeys: desiredKeys)
    }

    /// Fetches records; the result has an entry for every ID.
    @preconcurrency
    public func fetch(
        withRecordIDs recordIDs: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.fetch(recordIDs, desiredKeys: desiredKeys)
        }
    }

    /// Saves and deletes records, at most 400 in all; the result has an entry for every record.
    ///
    /// In a custom zone all changes are made or none, unless `atomically` is false. A request holds
    /// 200 items: with more, each group of 200 is atomic on its own.
    ///
    /// - Throws: An error when the request fails as a whole; an item's own error is its result.
    public func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        try await requests.modify(
            RecordModification(
                saving: recordsToSave,
                deleting: recordIDsToDelete,
                policy: savePolicy,
                atomically: atomically
            )
        )
    }

    /// Saves and deletes records, at most 400 in all; the result has an entry for every record.
    @preconcurrency
    public func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
                        deleteResults: [CKRecord.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.modify(
                RecordModification(
                    saving: recordsToSave,
                    deleting: recordIDsToDelete,
                    policy: savePolicy,
                    atomically: atomically
                )
            )
        }
    }
}
