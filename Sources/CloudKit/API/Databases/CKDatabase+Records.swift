extension CKDatabase {
    // MARK: One record

    /// Fetches a record.
    ///
    /// - Throws: `CKError.unknownItem` when there is none, `zoneNotFound` without its zone.
    public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        try await requests.fetch([recordID], desiredKeys: nil).single(recordID)
    }

    /// Fetches a record.
    public func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.fetch([recordID], desiredKeys: nil).single(recordID)
        }
    }

    /// Saves a record that is new or unchanged on the server since it was fetched.
    ///
    /// - Returns: The same record with what the server added.
    /// - Throws: `CKError.serverRecordChanged` with all three versions when the server's is newer.
    @discardableResult
    public func save(_ record: CKRecord) async throws -> CKRecord {
        try await requests.save(record)
    }

    /// Saves a record that is new or unchanged on the server since it was fetched.
    public func save(
        _ record: CKRecord,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.save(record)
        }
    }

    /// Deletes a record; one that does not exist counts as deleted.
    @discardableResult
    public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        try await requests.delete(recordID)
    }

    /// Deletes a record; one that does not exist counts as deleted.
    public func delete(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.delete(recordID)
        }
    }

    // MARK: Several records

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

extension DatabaseRequests {
    fileprivate func save(_ record: CKRecord) async throws(CKError) -> CKRecord {
        try await modify(RecordModification(saving: [record], deleting: [], atomically: false))
            .saveResults.single(record.recordID)
    }

    fileprivate func delete(_ recordID: CKRecord.ID) async throws(CKError) -> CKRecord.ID {
        try await modify(RecordModification(saving: [], deleting: [recordID], atomically: false))
            .deleteResults.single(recordID)
        return recordID
    }
}
