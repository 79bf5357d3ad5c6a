extension CKDatabase {
    /// Fetches records; every identity has an entry in the answer.
    ///
    /// - Throws: When the request fails as a whole; a record's own failure is its entry.
    public func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await requests.fetch(ids, desiredKeys: desiredKeys)
    }

    /// Fetches records; every identity has an entry in the answer.
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

    /// Saves and deletes records, at most 400 in all; every item has an entry in the answer.
    ///
    /// In a custom zone everything is saved and deleted or nothing, unless `atomically` is false. A
    /// request holds 200 items: of more, each 200 are atomic by themselves.
    ///
    /// - Throws: When the request fails as a whole; an item's own failure is its entry.
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

    /// Saves and deletes records, at most 400 in all; every item has an entry in the answer.
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
