public import CloudKit

/// What a graph is loaded from: a database, or records held otherwise.
public protocol CloudKitRecordSource: Sendable {
    /// Fetches records; every identity has an entry in the answer.
    ///
    /// - Throws: When the request fails as a whole; a record's own failure is its entry.
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

/// What a graph is saved into: a database, or records held otherwise.
public protocol CloudKitRecordDestination: Sendable {
    /// Saves and deletes records, all of them or none; every item has an entry in the answer.
    ///
    /// - Throws: When the request fails as a whole; an item's own failure is its entry.
    func modify(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    )
}
