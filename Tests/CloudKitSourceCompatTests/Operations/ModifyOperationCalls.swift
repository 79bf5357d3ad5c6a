// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run: the operations that change zones, subscriptions and shares.
@Suite("Calls of operations that change")
struct ModifyOperationCalls {
    func zones(_ database: CKDatabase) {
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneName: "Notes")],
            recordZoneIDsToDelete: nil
        )
        operation.perRecordZoneSaveBlock = { zoneID, result in _ = (zoneID, try? result.get()) }
        operation.perRecordZoneDeleteBlock = { _, _ in }
        operation.modifyRecordZonesResultBlock = { result in
            if case .failure(let error) = result { _ = error }
        }
        database.add(operation)
        let deletion = CKModifyRecordZonesOperation(recordZoneIDsToDelete: [.default])
        deletion.recordZonesToSave = []
        deletion.addDependency(operation)
        database.add(deletion)
    }

    func subscriptions(_ database: CKDatabase) {
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "all")]
        )
        operation.subscriptionIDsToDelete = ["old"]
        operation.perSubscriptionSaveBlock = { _, result in _ = try? result.get() }
        operation.perSubscriptionDeleteBlock = { _, _ in }
        operation.modifySubscriptionsResultBlock = { _ in }
        operation.qualityOfService = .utility
        database.add(operation)
    }

    func shares(_ container: CKContainer, _ metadatas: [CKShare.Metadata], _ urls: [URL]) {
        let accept = CKAcceptSharesOperation(shareMetadatas: metadatas)
        accept.perShareResultBlock = { metadata, result in
            switch result {
            case .success(let share): _ = (metadata, share)
            case .failure(let error): _ = error
            }
        }
        accept.acceptSharesResultBlock = { _ in }
        container.add(accept)
        let fetch = CKFetchShareMetadataOperation(shareURLs: urls)
        fetch.shouldFetchRootRecord = true
        fetch.rootRecordDesiredKeys = ["title"]
        fetch.perShareMetadataResultBlock = { _, result in _ = try? result.get() }
        fetch.fetchShareMetadataResultBlock = { _ in }
        container.add(fetch)
        let participants = CKFetchShareParticipantsOperation(
            userIdentityLookupInfos: CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["a@b.c"])
        )
        participants.perShareParticipantResultBlock = { _, result in _ = try? result.get() }
        participants.fetchShareParticipantsResultBlock = { _ in }
        container.add(participants)
    }

    @Test("Settings of operations, their groups and their queues are made in all usual forms")
    func settings() throws {
        let operation = CKModifyRecordsOperation(recordsToSave: [])
        operation.configuration.qualityOfService = .userInitiated
        operation.configuration.timeoutIntervalForRequest = 5
        operation.configuration.timeoutIntervalForResource = 50
        operation.configuration.allowsCellularAccess = false
        operation.configuration.isLongLived = false
        operation.qualityOfService = .userInteractive
        operation.queuePriority = .high
        operation.name = "save"
        operation.longLivedOperationWasPersistedBlock = {}
        #expect(!operation.operationID.isEmpty && operation.isReady)
        let configuration = CKOperation.Configuration()
        #expect(configuration.allowsCellularAccess && !configuration.isLongLived)
        operation.configuration = configuration
        operation.configuration = nil
        #expect(operation.configuration != nil)
        let group = CKOperationGroup()
        group.name = "first"
        group.quantity = 3
        group.expectedSendSize = .kilobytes
        group.expectedReceiveSize = .gigabytes
        group.defaultConfiguration = configuration
        operation.group = group
        #expect(!group.operationGroupID.isEmpty && operation.group?.name == "first")
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        queue.addOperations([operation], waitUntilFinished: false)
        #expect(queue.operations.contains(operation))
        queue.cancelAllOperations()
        #expect(operation.isCancelled)
        queue.isSuspended = false
    }
}
