public import CloudKitWire

extension WebClient {
    /// Lists the caller's subscriptions.
    public func listSubscriptions(
        in database: DatabaseScope
    ) async throws(WebClientError) -> SubscriptionsResponse {
        try await call(.subscriptionsList, in: database, nil as Empty?)
    }

    /// Fetches subscriptions by name; returns results in the order of the names.
    public func lookupSubscriptions(
        _ request: LookupSubscriptionsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> SubscriptionsResponse {
        let response: SubscriptionsResponse =
            try await call(.subscriptionsLookup, in: database, request)
        return try response.sorted(as: request.subscriptions.map(\.subscriptionID))
    }

    /// Creates and deletes subscriptions; returns results in the order of the operations.
    public func modifySubscriptions(
        _ request: ModifySubscriptionsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> SubscriptionsResponse {
        let response: SubscriptionsResponse =
            try await call(.subscriptionsModify, in: database, request)
        return try response.sorted(as: request.operations.map(\.subscription.subscriptionID))
    }
}
