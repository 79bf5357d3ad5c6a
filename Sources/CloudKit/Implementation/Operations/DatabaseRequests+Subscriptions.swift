import CloudKitWebClient
import CloudKitWire
import Foundation

extension DatabaseRequests {
    typealias SubscriptionResults = [CKSubscription.ID: Result<CKSubscription, any Error>]
    typealias SubscriptionModificationResults = (
        saveResults: SubscriptionResults,
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    )

    /// Returns the user's subscriptions in the database.
    func allSubscriptions() async throws(CKError) -> [CKSubscription] {
        let context = try await userContext()
        let response = try await native { () throws(WebClientError) in
            try await context.client.listSubscriptions(in: context.database)
        }
        var subscriptions: [CKSubscription] = []
        for result in response.subscriptions {
            switch result {
            case .success(let wire): subscriptions.append(try context.subscriptions.native(wire))
            case .failure(let error): throw CKError(error)
            }
        }
        return subscriptions
    }

    /// Fetches subscriptions by name; the result has an entry for every name.
    func fetchSubscriptions(
        _ names: [CKSubscription.ID]
    ) async throws(CKError) -> SubscriptionResults {
        guard !names.isEmpty else { return [:] }
        let context = try await userContext()
        let response = try await native { () throws(WebClientError) in
            try await context.client.lookupSubscriptions(
                LookupSubscriptionsRequest(subscriptions: names.map { .init(subscriptionID: $0) }),
                in: context.database
            )
        }
        var results: SubscriptionResults = [:]
        for (name, result) in zip(names, response.subscriptions) {
            results[name] = context.subscription(result)
        }
        return results
    }

    /// Saves and deletes subscriptions; the result has an entry for every one.
    func modifySubscriptions(
        saving: [CKSubscription],
        deleting: [CKSubscription.ID]
    ) async throws(CKError) -> SubscriptionModificationResults {
        var results: SubscriptionModificationResults = ([:], [:])
        guard !saving.isEmpty || !deleting.isEmpty else { return results }
        for subscription in saving { try check(subscription) }
        let context = try await userContext()
        var operations: [ModifySubscriptionsRequest.Operation] = []
        var sent: [CKSubscription] = []
        for subscription in saving {
            do {
                try checkNotice(of: subscription)
                operations.append(.init(.create, try context.subscriptions.wire(subscription)))
                sent.append(subscription)
            } catch {
                results.saveResults[subscription.subscriptionID] = .failure(error)
            }
        }
        operations += deleting.map {
            .init(.delete, WireSubscription(subscriptionID: $0, subscriptionType: nil))
        }
        guard !operations.isEmpty else { return results }
        let response = try await native { [operations] () throws(WebClientError) in
            try await context.client.modifySubscriptions(
                ModifySubscriptionsRequest(operations: operations),
                in: context.database
            )
        }
        for (subscription, result) in zip(sent, response.subscriptions) {
            results.saveResults[subscription.subscriptionID] = context.subscription(result)
        }
        for (name, result) in zip(deleting, response.subscriptions.dropFirst(sent.count)) {
            results.deleteResults[name] = context.deletion(result)
        }
        return results
    }

    /// Returns the context of a user, because subscriptions belong to one, in the public database
    /// too.
    private func userContext() async throws(CKError) -> Context {
        let context = try await context()
        guard context.isSomebody else {
            throw CKError(.notAuthenticated, message: "Subscriptions need a signed-in user")
        }
        return context
    }

    /// Checks that the database supports the subscription's type.
    private func check(_ subscription: CKSubscription) throws(CKError) {
        let isPossible =
            switch subscription.subscriptionType {
            case .query: scope != .shared
            case .recordZone: scope == .private
            case .database: scope != .public
            }
        guard isPossible else {
            throw CKError(
                .badDatabase,
                message:
                    "The \(scope.wire.rawValue) database does not support subscriptions of the type "
                    + "\(subscription.subscriptionType), as \(subscription.subscriptionID) is"
            )
        }
    }

    /// Checks that the subscription describes its notifications.
    private func checkNotice(of subscription: CKSubscription) throws(CKError) {
        guard subscription.notificationInfo != nil else {
            throw CKError(
                .invalidArguments,
                message: "The subscription \(subscription.subscriptionID) has no notificationInfo; "
                    + "an empty one with shouldSendContentAvailable is enough"
            )
        }
    }
}

extension DatabaseRequests.Context {
    var subscriptions: SubscriptionMapping {
        SubscriptionMapping(owners: owners, cleaned: client.cleaned)
    }

    fileprivate func subscription(
        _ result: ItemResult<WireSubscription>
    ) -> Result<CKSubscription, any Error> {
        switch result {
        case .failure(let error): .failure(CKError(error))
        case .success(let wire):
            Result<CKSubscription, CKError> { () throws(CKError) in
                try subscriptions.native(wire)
            }.mapError { $0 }
        }
    }

    /// Returns the result of a deletion; a missing subscription counts as deleted.
    fileprivate func deletion(_ result: ItemResult<WireSubscription>) -> Result<Void, any Error> {
        switch result {
        case .success: .success(())
        case .failure(let error) where error.serverErrorCode == .notFound: .success(())
        case .failure(let error): .failure(CKError(error))
        }
    }
}
