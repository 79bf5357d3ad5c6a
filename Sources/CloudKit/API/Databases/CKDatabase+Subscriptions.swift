extension CKDatabase {
    /// Lists the user's subscriptions.
    public func allSubscriptions() async throws -> [CKSubscription] {
        try await requests.allSubscriptions()
    }

    /// Lists the user's subscriptions.
    public func fetchAllSubscriptions(
        completionHandler: @escaping @Sendable ([CKSubscription]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.allSubscriptions()
        }
    }

    /// Fetches a subscription.
    ///
    /// - Throws: `CKError.unknownItem` when there is none.
    public func subscription(
        for subscriptionID: CKSubscription.ID
    ) async throws -> CKSubscription {
        try await requests.fetchSubscriptions([subscriptionID]).single(subscriptionID)
    }

    /// Fetches a subscription.
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.fetchSubscriptions([subscriptionID]).single(subscriptionID)
        }
    }

    /// Fetches subscriptions; every name has an entry in the answer.
    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
        try await requests.fetchSubscriptions(ids)
    }

    /// Fetches subscriptions; every name has an entry in the answer.
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

    /// Saves a subscription.
    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        try await requests.save(subscription)
    }

    /// Saves a subscription.
    public func save(
        _ subscription: CKSubscription,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.save(subscription)
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
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.delete(subscriptionID)
        }
    }

    /// Saves and deletes subscriptions; every item has an entry in the answer.
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

    /// Saves and deletes subscriptions; every item has an entry in the answer.
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
    fileprivate func save(
        _ subscription: CKSubscription
    ) async throws(CKError) -> CKSubscription {
        try await modifySubscriptions(saving: [subscription], deleting: []).saveResults
            .single(subscription.subscriptionID)
    }

    fileprivate func delete(
        _ subscriptionID: CKSubscription.ID
    ) async throws(CKError) -> CKSubscription.ID {
        try await modifySubscriptions(saving: [], deleting: [subscriptionID]).deleteResults
            .single(subscriptionID)
        return subscriptionID
    }
}
