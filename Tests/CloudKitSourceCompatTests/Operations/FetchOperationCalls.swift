// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run: the operations that read.
@Suite("Calls of operations that read")
struct FetchOperationCalls {
    func records(_ database: CKDatabase, _ recordIDs: [CKRecord.ID]) {
        let operation = CKFetchRecordsOperation(recordIDs: recordIDs)
        operation.desiredKeys = ["title"]
        operation.perRecordProgressBlock = { _, progress in _ = progress > 0.5 }
        operation.perRecordResultBlock = { recordID, result in _ = (recordID, try? result.get()) }
        operation.fetchRecordsResultBlock = { _ in }
        operation.database = database
        operation.start()
        let me = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
        me.addDependency(operation)
        database.add(me)
    }

    func query(_ database: CKDatabase, _ found: @escaping @Sendable (CKRecord) -> Void) {
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let operation = CKQueryOperation(query: query)
        operation.zoneID = .default
        operation.resultsLimit = CKQueryOperation.maximumResults
        operation.desiredKeys = ["title", "count"]
        operation.recordMatchedBlock = { recordID, result in
            if case .success(let record) = result { found(record) }
        }
        operation.queryResultBlock = { result in
            switch result {
            case .success(let cursor):
                guard let cursor else { return }
                let next = CKQueryOperation(cursor: cursor)
                next.recordMatchedBlock = { _, result in _ = try? result.get() }
                database.add(next)
            case .failure(let error): _ = error
            }
        }
        database.add(operation)
    }

    func zones(_ database: CKDatabase) {
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: [.default])
        operation.perRecordZoneResultBlock = { zoneID, result in
            _ = (zoneID, try? result.get().capabilities)
        }
        operation.fetchRecordZonesResultBlock = { _ in }
        database.add(operation)
        database.add(CKFetchRecordZonesOperation.fetchAllRecordZonesOperation())
    }

    func databaseChanges(_ database: CKDatabase, _ token: CKServerChangeToken?) {
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
        operation.fetchAllChanges = true
        operation.resultsLimit = 10
        var changed: [CKRecordZone.ID] = []
        operation.recordZoneWithIDChangedBlock = { changed.append($0) }
        operation.recordZoneWithIDWasDeletedBlock = { _ in }
        operation.recordZoneWithIDWasPurgedBlock = { _ in }
        operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = { _ in }
        operation.changeTokenUpdatedBlock = { _ in }
        operation.fetchDatabaseChangesResultBlock = { result in
            guard case .success((let token, let moreComing)) = result else { return }
            _ = (token, moreComing)
        }
        database.add(operation)
    }

    func zoneChanges(_ database: CKDatabase, _ zoneIDs: [CKRecordZone.ID]) {
        let operation = CKFetchRecordZoneChangesOperation()
        operation.recordZoneIDs = zoneIDs
        var configurations: [CKRecordZone.ID: CKFetchRecordZoneChangesOperation.ZoneConfiguration] =
            [:]
        for zoneID in zoneIDs {
            let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration()
            configuration.previousServerChangeToken = nil
            configuration.resultsLimit = 50
            configuration.desiredKeys = ["title"]
            configurations[zoneID] = configuration
        }
        operation.configurationsByRecordZoneID = configurations
        operation.fetchAllChanges = false
        operation.recordWasChangedBlock = { _, result in _ = try? result.get() }
        operation.recordWithIDWasDeletedBlock = { recordID, recordType in
            _ = (recordID, recordType == "Note")
        }
        operation.recordZoneChangeTokensUpdatedBlock = { _, token, _ in _ = token }
        operation.recordZoneFetchResultBlock = { zoneID, result in
            switch result {
            case .success(let (token, clientToken, moreComing)):
                _ = (zoneID, token, clientToken, moreComing)
            case .failure(let error as CKError) where error.code == .changeTokenExpired: break
            case .failure: break
            }
        }
        operation.fetchRecordZoneChangesResultBlock = { _ in }
        database.add(operation)
    }

    func subscriptions(_ database: CKDatabase) {
        let operation = CKFetchSubscriptionsOperation(subscriptionIDs: ["all"])
        operation.perSubscriptionResultBlock = { _, result in _ = try? result.get() }
        operation.fetchSubscriptionsResultBlock = { _ in }
        database.add(operation)
        database.add(CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation())
    }

    @Test("Defaults are Apple's")
    func defaults() {
        #expect(CKFetchDatabaseChangesOperation().fetchAllChanges)
        #expect(CKFetchRecordZoneChangesOperation().fetchAllChanges)
        #expect(CKQueryOperation().resultsLimit == CKQueryOperation.maximumResults)
        #expect(CKFetchRecordsOperation().desiredKeys == nil)
        #expect(!CKFetchShareMetadataOperation().shouldFetchRootRecord)
    }
}
