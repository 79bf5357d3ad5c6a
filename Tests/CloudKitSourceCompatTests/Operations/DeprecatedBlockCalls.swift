// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit

/// Compiled, not run: deprecated blocks as older apps set them.
struct DeprecatedBlockCalls {
    @available(*, deprecated)
    func zones(_ database: CKDatabase, _ zoneIDs: [CKRecordZone.ID]) {
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: zoneIDs)
        operation.fetchRecordZonesCompletionBlock = { zonesByID, error in
            if let error = error as? CKError, error.code == .partialFailure {
                _ = error.partialErrorsByItemID?[CKRecordZone.ID.default]
            }
            for (zoneID, zone) in zonesByID ?? [:] { _ = (zoneID.zoneName, zone.capabilities) }
        }
        database.add(operation)
    }

    @available(*, deprecated)
    func subscriptions(_ database: CKDatabase, _ subscription: CKSubscription) {
        let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: ["all"])
        fetch.fetchSubscriptionCompletionBlock = { subscriptionsByID, error in
            if let error { print(error.localizedDescription) }
            _ = subscriptionsByID?["all"]?.notificationInfo
        }
        database.add(fetch)
        let modify = CKModifySubscriptionsOperation(
            subscriptionsToSave: [subscription],
            subscriptionIDsToDelete: ["old"]
        )
        modify.modifySubscriptionsCompletionBlock = { saved, deletedIDs, error in
            guard error == nil else { return }
            _ = (saved?.map(\.subscriptionID), deletedIDs?.count)
        }
        modify.qualityOfService = .utility
        database.add(modify)
    }

    @available(*, deprecated)
    func shares(_ container: CKContainer, _ metadata: CKShare.Metadata, _ url: URL) {
        let accept = CKAcceptSharesOperation(shareMetadatas: [metadata])
        accept.perShareCompletionBlock = { metadata, share, error in
            if let error { print(error) }
            _ = (metadata.rootRecordID, share?.url)
        }
        accept.acceptSharesCompletionBlock = { error in _ = (error as? CKError)?.code }
        container.add(accept)
        let fetch = CKFetchShareMetadataOperation(shareURLs: [url])
        fetch.shouldFetchRootRecord = true
        fetch.perShareMetadataBlock = { url, metadata, error in
            guard let metadata, error == nil else { return }
            _ = (url.lastPathComponent, metadata.rootRecord)
        }
        fetch.fetchShareMetadataCompletionBlock = { error in
            if let error = error as? CKError { _ = error.partialErrorsByItemID?[url] }
        }
        container.add(fetch)
    }

    @available(*, deprecated)
    func participants(_ container: CKContainer, _ share: CKShare) {
        let operation = CKFetchShareParticipantsOperation(
            userIdentityLookupInfos: [CKUserIdentity.LookupInfo(emailAddress: "a@example.com")]
        )
        var found: [CKShare.Participant] = []
        operation.shareParticipantFetchedBlock = { participant in
            participant.permission = .readWrite
            found.append(participant)
        }
        operation.fetchShareParticipantsCompletionBlock = { error in
            guard error == nil else { return }
            for participant in found { share.addParticipant(participant) }
        }
        container.add(operation)
    }

    @available(*, deprecated)
    func people(_ container: CKContainer) {
        let people = CKDiscoverUserIdentitiesOperation(
            userIdentityLookupInfos: [CKUserIdentity.LookupInfo(phoneNumber: "+49301234")]
        )
        people.userIdentityDiscoveredBlock = { identity, info in
            _ = (identity.nameComponents, info.phoneNumber)
        }
        people.discoverUserIdentitiesCompletionBlock = { error in _ = error?.localizedDescription }
        container.add(people)
        let all = CKDiscoverAllUserIdentitiesOperation()
        all.userIdentityDiscoveredBlock = { identity in _ = identity.contactIdentifiers }
        all.discoverAllUserIdentitiesResultBlock = { result in
            switch result {
            case .success: break
            case .failure(let error): _ = (error as? CKError)?.code
            }
        }
        all.discoverAllUserIdentitiesCompletionBlock = { error in _ = error == nil }
        container.add(all)
    }

    @available(*, deprecated)
    func token(_ database: CKDatabase) {
        let operation = CKFetchWebAuthTokenOperation(apiToken: "token")
        operation.fetchWebAuthTokenCompletionBlock = { token, error in
            guard let token, error == nil else { return }
            _ = token.count
        }
        database.add(operation)
    }

    @available(*, deprecated)
    func recordChanges(_ database: CKDatabase, _ token: CKServerChangeToken?) {
        let operation = CKFetchRecordChangesOperation(
            recordZoneID: CKRecordZone.ID(zoneName: "Notes"),
            previousServerChangeToken: token
        )
        operation.resultsLimit = 50
        operation.desiredKeys = ["title"]
        operation.recordChangedBlock = { record in _ = record.recordID }
        operation.recordWithIDWasDeletedBlock = { recordID in _ = recordID.recordName }
        operation.fetchRecordChangesCompletionBlock = { token, clientToken, error in
            if let error = error as? CKError, error.code == .changeTokenExpired { return }
            _ = (token, clientToken)
        }
        database.add(operation)
        let next = CKFetchRecordChangesOperation()
        next.recordZoneID = operation.recordZoneID
        next.previousServerChangeToken = operation.previousServerChangeToken
        next.addDependency(operation)
        if operation.moreComing { database.add(next) }
    }
}
