public import CloudKitWire

extension WebClient {
    /// Lists all zones of a database.
    public func listZones(
        in database: DatabaseScope
    ) async throws(WebClientError) -> ZonesResponse {
        try await call(.zonesList, in: database, nil as Empty?)
    }

    /// Fetches zones by identity; answers in the order of the identities.
    public func lookupZones(
        _ request: LookupZonesRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> ZonesResponse {
        try await call(.zonesLookup, in: database, request)
    }

    /// Makes and deletes zones; answers in the order of the operations.
    public func modifyZones(
        _ request: ModifyZonesRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> ZonesResponse {
        try await call(.zonesModify, in: database, request)
    }
}

/// The body of a request that has none.
struct Empty: Encodable {}
