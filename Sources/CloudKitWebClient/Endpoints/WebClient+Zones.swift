public import CloudKitWire

extension WebClient {
    /// Lists all zones of a database.
    public func listZones(
        in database: DatabaseScope
    ) async throws(WebClientError) -> ZonesResponse {
        try await call(.zonesList, in: database, nil as Empty?, query: Self.shares)
    }

    /// Fetches zones by identity; returns results in the order of the identities.
    public func lookupZones(
        _ request: LookupZonesRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> ZonesResponse {
        let response: ZonesResponse =
            try await call(.zonesLookup, in: database, request, query: Self.shares)
        return ZonesResponse(zones: try response.zones.sorted(as: request.zones, by: \.zoneID))
    }

    /// Creates and deletes zones; returns results in the order of the operations.
    public func modifyZones(
        _ request: ModifyZonesRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> ZonesResponse {
        let response: ZonesResponse =
            try await call(.zonesModify, in: database, request, query: Self.shares)
        let zones = request.operations.map(\.zone.zoneID)
        return ZonesResponse(zones: try response.zones.sorted(as: zones, by: \.zoneID))
    }

    /// A parameter for servers that report whether a zone is shared as a whole.
    private static let shares = "zoneShares=true"
}

/// The body of a request that has none.
struct Empty: Encodable {}
