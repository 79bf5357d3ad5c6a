public import CloudKit

/// A source from which graphs are loaded: a database, or records stored elsewhere.
public protocol CloudKitRecordSource: Sendable {
    /// Fetches records; the result has an entry for every identity.
    ///
    /// - Throws: When the request fails as a whole; the failure of a single record is its entry.
    func records(
        withIDs recordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>]

    /// Fetches the records of a type that refer to one of several records through a field.
    ///
    /// - Throws: When the request fails.
    func records(
        ofType recordType: CKRecord.RecordType,
        referringTo recordIDs: [CKRecord.ID],
        via field: CKRecord.FieldKey
    ) async throws -> [CKRecord]
}

/// A destination to which graphs are saved: a database, or records stored elsewhere.
public protocol CloudKitRecordDestination: Sendable {
    /// Saves and deletes records, all of them or none; the result has an entry for every item.
    ///
    /// - Throws: When the request fails as a whole; the failure of a single item is its entry.
    func modify(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    )
}
