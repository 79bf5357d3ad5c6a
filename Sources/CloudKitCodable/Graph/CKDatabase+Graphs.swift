public import CloudKit
import Foundation

extension CKDatabase: CloudKitRecordSource {
    /// Fetches records; the result has an entry for every identity.
    public func records(
        withIDs recordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await records(for: recordIDs, desiredKeys: nil)
    }

    /// Fetches the records of a type that refer to one of several records through a field.
    ///
    /// It needs a QUERYABLE index on the field, which the development environment creates
    /// automatically.
    public func records(
        ofType recordType: CKRecord.RecordType,
        referringTo recordIDs: [CKRecord.ID],
        via field: CKRecord.FieldKey
    ) async throws -> [CKRecord] {
        var records: [CKRecord] = []
        for (zoneID, owners) in Dictionary(grouping: recordIDs, by: \.zoneID) {
            for start in stride(from: 0, to: owners.count, by: Self.mostOwnersInQuery) {
                let chunk = owners[start..<min(start + Self.mostOwnersInQuery, owners.count)]
                let references = chunk.map { CKRecord.Reference(recordID: $0, action: .none) }
                let predicate = NSPredicate(format: "%K IN %@", field, NSArray(array: references))
                let query = CKQuery(recordType: recordType, predicate: predicate)
                do {
                    records += try await self.records(matching: query, in: zoneID)
                } catch let error as CKError where Self.isUnknown(field, error) {
                    // No record has referred to an owner yet, of this type or through this field.
                    return []
                }
            }
        }
        return records
    }

    private func records(
        matching query: CKQuery,
        in zoneID: CKRecordZone.ID
    ) async throws -> [CKRecord] {
        var (results, cursor) = try await records(matching: query, inZoneWith: zoneID)
        var records = try results.map { try $0.1.get() }
        while let next = cursor {
            (results, cursor) = try await self.records(continuingMatchFrom: next)
            records += try results.map { try $0.1.get() }
        }
        return records
    }

    /// Returns whether the schema lacks the type or field: the development environment adds them with
    /// the first record that has them.
    ///
    /// A missing field has no error code of its own. iCloud was observed to report "Unknown field
    /// 'x'"; this package's server reports "Field 'x' not found".
    private static func isUnknown(_ field: CKRecord.FieldKey, _ error: CKError) -> Bool {
        switch error.code {
        case .unknownItem: return true
        case .invalidArguments:
            let text = error.localizedDescription
            return text.contains("'\(field)'")
                && (text.contains("not found in") || text.contains("Unknown field"))
        default: return false
        }
    }

    /// The maximum number of targets in one query.
    private static var mostOwnersInQuery: Int { 100 }
}

extension CKDatabase: CloudKitRecordDestination {
    /// Saves and deletes records, all of them or none; the result has an entry for every item.
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
