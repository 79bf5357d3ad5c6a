public import CloudKit

extension CKDatabase: CloudKitRecordSource {
    /// Fetches records; every identity has an entry in the answer.
    public func records(
        withIDs recordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await records(for: recordIDs, desiredKeys: nil)
    }

    /// Fetches the records of a type that refer to one of several records through a field.
    ///
    /// It reads the changes of the records' zones, which needs no index and sees what was saved a
    /// moment ago; zones without changes, the default zone and public ones, hold no children.
    public func records(
        ofType recordType: CKRecord.RecordType,
        referringTo recordIDs: [CKRecord.ID],
        via field: CKRecord.FieldKey
    ) async throws -> [CKRecord] {
        let owners = Set(recordIDs)
        var records: [CKRecord] = []
        for zoneID in Set(recordIDs.map(\.zoneID)) {
            var token: CKServerChangeToken?
            var moreComing = true
            while moreComing {
                let page = try await recordZoneChanges(inZoneWith: zoneID, since: token)
                records += try page.modificationResultsByID.values.map { try $0.get().record }
                    .filter { record in
                        record.recordType == recordType
                            && record.references(field).contains { owners.contains($0.recordID) }
                    }
                (token, moreComing) = (page.changeToken, page.moreComing)
            }
        }
        return records
    }
}

extension CKDatabase: CloudKitRecordDestination {
    /// Saves and deletes records, all of them or none; every item has an entry in the answer.
    public func modify(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        try await modifyRecords(
            saving: records,
            deleting: recordIDs,
            savePolicy: savePolicy,
            atomically: true
        )
    }
}
