public import CloudKitWire

extension WebClient {
    /// Returns the shares that links refer to, in the order of the identifiers.
    public func resolveShares(
        _ request: SharesRequest
    ) async throws(WebClientError) -> SharesResponse {
        let response: SharesResponse = try await call(.recordsResolve, in: .public, request)
        return try response.sorted(as: request.shortGUIDs)
    }

    /// Accepts invitations to shares; returns results in the order of the identifiers.
    public func acceptShares(
        _ request: SharesRequest
    ) async throws(WebClientError) -> SharesResponse {
        let response: SharesResponse = try await call(.recordsAccept, in: .public, request)
        return try response.sorted(as: request.shortGUIDs)
    }
}
