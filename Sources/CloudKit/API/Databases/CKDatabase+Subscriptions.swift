extension CKDatabase {
    /// Fetches a subscription.
    ///
    /// - Throws: `CKError.unknownItem` when there is none.
    public func subscription(
        for subscriptionID: CKSubscription.ID
    ) async throws -> CKSubscription {
        try await requests.fetchSubscriptions([subscriptionID]).single(subscriptionID)
    }

    /// Fetches a subscription.
    @preconcurrency
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.fetchSubscriptions([subscriptionID]).single(subscriptionID)
        }
    }

    /// Fetches subscriptions; the result has an entry for every ID.
    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
        try await requests.fetchSubscriptions(ids)
    }

    /// Fetches subscriptions; the result has an entry for every ID.
    @preconcurrency
    public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.fetchSubscriptions(subscriptionIDs)
        }
    }

    /// Deletes a subscription; one that does not exist counts as deleted.
    @discardableResult
    public func deleteSubscription(
        withID subscriptionID: CKSubscription.ID
    ) async throws -> CKSubscription.ID {
        try await requests.delete(subscriptionID)
    }

    /// Deletes a subscription; one that does not exist counts as deleted.
    @preconcurrency
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.delete(subscriptionID)
        }
    }

    /// Saves and deletes subscriptions; the result has an entry for every one.
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription],
        deleting subscriptionIDsToDelete: [CKSubscription.ID]
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    ) {
        try await requests.modifySubscriptions(
            saving: subscriptionsToSave,
            deleting: subscriptionIDsToDelete
        )
    }

    /// Saves and deletes subscriptions; the result has an entry for every one.
    @preconcurrency
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription],
        deleting subscriptionIDsToDelete: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
                        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.modifySubscriptions(
                saving: subscriptionsToSave,
                deleting: subscriptionIDsToDelete
            )
        }
    }
}

extension DatabaseRequests {
    fileprivate func delete(
        _ subscriptionID: CKSubscription.ID
    ) async throws(CKError) -> CKSubscription.ID {
        try await modifySubscriptions(saving: [], deleting: [subscriptionID]).deleteResults
            .single(subscriptionID)
        return subscriptionID
    }
}
