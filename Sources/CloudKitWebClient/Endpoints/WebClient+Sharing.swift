public import CloudKitWire

extension WebClient {
    /// Says what links to shares stand for; answers in the order of the identifiers.
    public func resolveShares(
        _ request: SharesRequest
    ) async throws(WebClientError) -> SharesResponse {
        let response: SharesResponse = try await call(.recordsResolve, in: .public, request)
        return try response.sorted(as: request.shortGUIDs)
    }

    /// Accepts invitations to shares; answers in the order of the identifiers.
    public func acceptShares(
        _ request: SharesRequest
    ) async throws(WebClientError) -> SharesResponse {
        let response: SharesResponse = try await call(.recordsAccept, in: .public, request)
        return try response.sorted(as: request.shortGUIDs)
    }
}
