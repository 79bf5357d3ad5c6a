// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run: operations as apps set them up.
@Suite("Calls of operations")
struct CKOperationCalls {
    func modify(_ database: CKDatabase, _ records: [CKRecord]) {
        let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: nil)
        operation.savePolicy = .changedKeys
        operation.isAtomic = false
        operation.qualityOfService = .utility
        operation.perRecordProgressBlock = { record, progress in _ = (record.recordID, progress) }
        operation.perRecordSaveBlock = { id, result in
            switch result {
            case .success(let record): _ = (id, record)
            case .failure(let error): _ = error
            }
        }
        operation.perRecordDeleteBlock = { _, _ in }
        operation.modifyRecordsResultBlock = { result in
            if case .failure(let error) = result { _ = error.localizedDescription }
        }
        operation.completionBlock = {}
        database.add(operation)
        OperationQueue().addOperation(CKModifyRecordsOperation(recordsToSave: records))
        _ = CKModifyRecordsOperation(recordIDsToDelete: records.map(\.recordID))
    }

    @available(*, deprecated)
    func deprecated(_ database: CKDatabase, _ records: [CKRecord]) {
        let modify = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: [])
        modify.perRecordCompletionBlock = { record, error in _ = (record, error) }
        modify.modifyRecordsCompletionBlock = { saved, deleted, error in
            guard let error = error as? CKError, error.code == .partialFailure else { return }
            _ = error.partialErrorsByItemID
        }
        let fetch = CKFetchRecordsOperation(recordIDs: records.map(\.recordID))
        fetch.perRecordCompletionBlock = { _, _, _ in }
        fetch.fetchRecordsCompletionBlock = { records, error in _ = records?.count }
        let query = CKQueryOperation(
            query: CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        )
        query.recordFetchedBlock = { _ in }
        query.queryCompletionBlock = { cursor, error in
            if let cursor { database.add(CKQueryOperation(cursor: cursor)) }
        }
        let changes = CKFetchRecordZoneChangesOperation()
        let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
        options.previousServerChangeToken = nil
        changes.optionsByRecordZoneID = [.default: options]
        changes.recordChangedBlock = { _ in }
        changes.recordZoneFetchCompletionBlock = { _, _, _, _, _ in }
        changes.fetchRecordZoneChangesCompletionBlock = { _ in }
        let zones = CKModifyRecordZonesOperation(recordZonesToSave: [], recordZoneIDsToDelete: [])
        zones.modifyRecordZonesCompletionBlock = { _, _, _ in }
        let databaseChanges = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        databaseChanges.fetchDatabaseChangesCompletionBlock = { token, more, error in }
        database.perform(
            CKQuery(recordType: "Note", predicate: NSPredicate(value: true)),
            inZoneWith: nil
        ) { records, error in _ = records?.count }
        for operation in [modify, fetch, query, changes, zones] as [CKDatabaseOperation] {
            database.add(operation)
        }
    }

    func changes(_ database: CKDatabase, _ zoneID: CKRecordZone.ID) {
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            previousServerChangeToken: nil,
            resultsLimit: 100,
            desiredKeys: ["title"]
        )
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID],
            configurationsByRecordZoneID: [zoneID: configuration]
        )
        operation.recordWasChangedBlock = { _, result in _ = try? result.get() }
        operation.recordWithIDWasDeletedBlock = { id, type in _ = (id, type) }
        operation.recordZoneChangeTokensUpdatedBlock = { _, token, _ in _ = token }
        operation.recordZoneFetchResultBlock = { zoneID, result in
            if case .success((let token, _, let more)) = result { _ = (zoneID, token, more) }
        }
        operation.fetchRecordZoneChangesResultBlock = { _ in }
        let first = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        first.recordZoneWithIDChangedBlock = { _ in }
        first.recordZoneWithIDWasDeletedBlock = { _ in }
        first.changeTokenUpdatedBlock = { _ in }
        first.fetchDatabaseChangesResultBlock = { result in
            if case .success((let token, _)) = result { _ = token }
        }
        operation.addDependency(first)
        database.add(first)
        database.add(operation)
    }

    func rest(_ container: CKContainer, _ url: URL, _ metadata: CKShare.Metadata) {
        let accept = CKAcceptSharesOperation(shareMetadatas: [metadata])
        accept.perShareResultBlock = { metadata, result in _ = try? result.get() }
        accept.acceptSharesResultBlock = { _ in }
        container.add(accept)
        let fetch = CKFetchShareMetadataOperation(shareURLs: [url])
        fetch.shouldFetchRootRecord = true
        fetch.perShareMetadataResultBlock = { url, result in _ = try? result.get().rootRecord }
        container.add(fetch)
        let participants = CKFetchShareParticipantsOperation(
            userIdentityLookupInfos: [.init(emailAddress: "a@example.com")]
        )
        participants.perShareParticipantResultBlock = { _, _ in }
        container.add(participants)
        _ = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
        _ = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        _ = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        let group = CKOperationGroup()
        group.name = "first sync"
        group.expectedReceiveSize = .megabytes
        fetch.group = group
    }

    @Test("Apps may make operations of their own")
    func subclass() {
        // @unchecked Sendable because one test uses it.
        final class Logged: CKModifyRecordsOperation, @unchecked Sendable {
            var log: [String] = []
        }
        let operation = Logged(recordsToSave: [])
        operation.log.append("x")
        #expect(operation.isAtomic && operation.savePolicy == .ifServerRecordUnchanged)
    }
}
