import CloudKit
import Foundation
import Support
import Testing

/// Helpers for suites that run operations: the notation of outcomes, and the operations with
/// deprecated blocks.
protocol OperationContract {}

extension OperationContract {
    static var zone: CKRecordZone { CKRecordZone(zoneName: "Lists") }

    var old: any OldOperations { OperationsOfOld() }

    /// Returns the word for a result: ok, or the code of its error.
    func word(_ result: Result<some Any, any Error>) -> String {
        switch result {
        case .success: "ok"
        case .failure(let error): code(error)
        }
    }

    /// Returns the code of an error, as passed to deprecated blocks.
    func code(_ error: (any Error)?) -> String {
        guard let error else { return "none" }
        guard let error = error as? CKError else { return "\(error)" }
        return "\(error.code)"
    }

    /// Returns the code of an error, the number of its item errors, and the code of one item.
    func codes(_ error: (any Error)?, of item: AnyHashable) -> String {
        let items = (error as? CKError)?.partialErrorsByItemID ?? [:]
        return "\(code(error)) \(items.count) \(code(items[item]))"
    }

    /// Starts an operation and waits for its completion block, which is called last.
    func run(_ operation: CKOperation, _ log: Log, start: (CKOperation) -> Void) async {
        await withCheckedContinuation { continuation in
            operation.completionBlock = {
                log.note("completion")
                continuation.resume()
            }
            start(operation)
        }
    }

    /// Runs an operation on a database in a queue.
    func run(_ operation: CKDatabaseOperation, on database: CKDatabase, _ log: Log) async {
        operation.database = database
        let queue = OperationQueue()
        await run(operation, log) { queue.addOperation($0) }
    }
}

/// Creates operations with deprecated blocks, without the warning: a witness may be deprecated.
protocol OldOperations {
    func metadata(_ url: URL, dead: URL, _ log: Log) -> CKOperation
    func accept(
        _ metadatas: [CKShare.Metadata],
        failing: CKShare.Metadata,
        _ log: Log
    ) -> CKOperation
    func participants(
        _ person: CKRecord.ID,
        missing: CKUserIdentity.LookupInfo,
        _ log: Log
    ) -> CKOperation
    func discovery(_ infos: [CKUserIdentity.LookupInfo], _ log: Log) -> CKOperation
    func everybody(_ log: Log) -> CKOperation
    func everybodyOfOld(_ log: Log) -> CKOperation
    func webAuthToken(_ apiToken: String, _ log: Log) -> CKDatabaseOperation
    func modify(
        _ subscriptions: [CKSubscription],
        deleting name: CKSubscription.ID,
        _ log: Log
    ) -> CKDatabaseOperation
    func subscriptions(
        _ names: [CKSubscription.ID],
        missing: CKSubscription.ID,
        _ log: Log
    ) -> CKDatabaseOperation
    func databaseChanges(_ log: Log) -> CKDatabaseOperation
    func recordChanges(
        _ zoneID: CKRecordZone.ID,
        _ token: CKServerChangeToken?,
        _ log: Log
    ) -> CKDatabaseOperation
}

private struct OperationsOfOld: OldOperations, OperationContract {
    @available(*, deprecated)
    func metadata(_ url: URL, dead: URL, _ log: Log) -> CKOperation {
        let operation = CKFetchShareMetadataOperation(shareURLs: [url, dead])
        operation.perShareMetadataBlock = { _, metadata, error in
            let name = metadata?.hierarchicalRootRecordID?.recordName ?? "-"
            log.note("item \(name) \(metadata?.rootRecord != nil) \(code(error))")
        }
        operation.fetchShareMetadataCompletionBlock = { log.note(codes($0, of: dead)) }
        return operation
    }

    @available(*, deprecated)
    func accept(
        _ metadatas: [CKShare.Metadata],
        failing: CKShare.Metadata,
        _ log: Log
    ) -> CKOperation {
        let operation = CKAcceptSharesOperation(shareMetadatas: metadatas)
        operation.perShareCompletionBlock = { metadata, share, error in
            let name = metadata.hierarchicalRootRecordID?.recordName ?? "-"
            log.note("\(name) \(share != nil) \(code(error))")
        }
        operation.acceptSharesCompletionBlock = { log.note(codes($0, of: failing)) }
        return operation
    }

    @available(*, deprecated)
    func participants(
        _ person: CKRecord.ID,
        missing: CKUserIdentity.LookupInfo,
        _ log: Log
    ) -> CKOperation {
        let operation = CKFetchShareParticipantsOperation(
            userIdentityLookupInfos: [missing, CKUserIdentity.LookupInfo(userRecordID: person)]
        )
        operation.shareParticipantFetchedBlock = { participant in
            let recordID = participant.userIdentity.userRecordID
            log.note("found \(recordID?.recordName == person.recordName)")
        }
        operation.fetchShareParticipantsCompletionBlock = { log.note(codes($0, of: missing)) }
        return operation
    }

    @available(*, deprecated)
    func discovery(_ infos: [CKUserIdentity.LookupInfo], _ log: Log) -> CKOperation {
        let operation = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: infos)
        operation.discoverUserIdentitiesCompletionBlock = { log.note("end \(code($0))") }
        return operation
    }

    @available(*, deprecated)
    func everybody(_ log: Log) -> CKOperation {
        let operation = CKDiscoverAllUserIdentitiesOperation()
        operation.userIdentityDiscoveredBlock = { _ in log.note("found") }
        operation.discoverAllUserIdentitiesResultBlock = { log.note("result \(word($0))") }
        return operation
    }

    @available(*, deprecated)
    func everybodyOfOld(_ log: Log) -> CKOperation {
        let operation = CKDiscoverAllUserIdentitiesOperation()
        operation.userIdentityDiscoveredBlock = { _ in log.note("found") }
        operation.discoverAllUserIdentitiesCompletionBlock = { log.note("end \(code($0))") }
        return operation
    }

    @available(*, deprecated)
    func webAuthToken(_ apiToken: String, _ log: Log) -> CKDatabaseOperation {
        let operation = CKFetchWebAuthTokenOperation(apiToken: apiToken)
        operation.fetchWebAuthTokenCompletionBlock = { token, error in
            log.note("\(token != nil) \(code(error))")
        }
        return operation
    }

    @available(*, deprecated)
    func modify(
        _ subscriptions: [CKSubscription],
        deleting name: CKSubscription.ID,
        _ log: Log
    ) -> CKDatabaseOperation {
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: subscriptions,
            subscriptionIDsToDelete: [name]
        )
        operation.modifySubscriptionsCompletionBlock = { saved, deleted, error in
            for subscription in saved ?? [] { log.note("saved \(subscription.subscriptionID)") }
            for name in deleted ?? [] { log.note("deleted \(name)") }
            log.note(codes(error, of: "bad"))
        }
        return operation
    }

    @available(*, deprecated)
    func subscriptions(
        _ names: [CKSubscription.ID],
        missing: CKSubscription.ID,
        _ log: Log
    ) -> CKDatabaseOperation {
        let operation = CKFetchSubscriptionsOperation(subscriptionIDs: names)
        operation.fetchSubscriptionCompletionBlock = { subscriptions, error in
            for name in (subscriptions ?? [:]).keys.sorted() { log.note("fetched \(name)") }
            log.note(codes(error, of: missing))
        }
        return operation
    }

    @available(*, deprecated)
    func databaseChanges(_ log: Log) -> CKDatabaseOperation {
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        operation.fetchDatabaseChangesCompletionBlock = { token, moreComing, error in
            log.note("\(token != nil) \(moreComing) \(code(error))")
        }
        return operation
    }

    @available(*, deprecated)
    func recordChanges(
        _ zoneID: CKRecordZone.ID,
        _ token: CKServerChangeToken?,
        _ log: Log
    ) -> CKDatabaseOperation {
        let operation = CKFetchRecordChangesOperation(
            recordZoneID: zoneID,
            previousServerChangeToken: token
        )
        operation.recordChangedBlock = { log.note("changed \($0.recordID.recordName)") }
        operation.recordWithIDWasDeletedBlock = { log.note("deleted \($0.recordName)") }
        operation.fetchRecordChangesCompletionBlock = { token, _, error in
            log.note("end \(token != nil) \(code(error))")
        }
        return operation
    }
}
