public import CloudKitWire

extension WebClient {
    /// Returns the identity of the caller.
    ///
    /// - Throws: `AUTHENTICATION_REQUIRED` without a web auth token; the error contains the sign-in
    ///   address.
    public func caller() async throws(WebClientError) -> UserIdentity {
        try await call(.usersCaller, in: .public, nil as Empty?)
    }

    /// Fetches users by address or identity; unknown users are not in the response.
    public func discoverUsers(
        _ request: DiscoverUsersRequest
    ) async throws(WebClientError) -> DiscoverUsersResponse {
        try await call(.usersDiscover, in: .public, request)
    }
}
