public import CloudKitWire

extension WebClient {
    /// Says who the caller is.
    ///
    /// - Throws: `AUTHENTICATION_REQUIRED` without a web auth token; the error says where to sign in.
    public func caller() async throws(WebClientError) -> UserIdentity {
        try await call(.usersCaller, in: .public, nil as Empty?)
    }

    /// Finds users by address or identity; who is not found is not in the answer.
    public func discoverUsers(
        _ request: DiscoverUsersRequest
    ) async throws(WebClientError) -> DiscoverUsersResponse {
        try await call(.usersDiscover, in: .public, request)
    }
}
