public import CloudKitWire

extension WebClient {
    /// Says what links to shares stand for; answers in the order of the identifiers.
    public func resolveShares(
        _ request: SharesRequest
    ) async throws(WebClientError) -> SharesResponse {
        try await call(.recordsResolve, in: .public, request)
    }

    /// Accepts invitations to shares; answers in the order of the identifiers.
    public func acceptShares(
        _ request: SharesRequest
    ) async throws(WebClientError) -> SharesResponse {
        try await call(.recordsAccept, in: .public, request)
    }
}
