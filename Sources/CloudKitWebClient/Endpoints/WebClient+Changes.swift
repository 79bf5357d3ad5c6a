public import CloudKitWire

extension WebClient {
    /// Fetches a page of the zones that changed.
    public func databaseChanges(
        _ request: DatabaseChangesRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> DatabaseChangesResponse {
        // A server that knows this parameter says why a zone is gone that no app deleted.
        try await call(.changesDatabase, in: database, request, query: "deletionReasons=true")
    }

    /// Fetches a page of the records that changed in each of the zones; answers in their order.
    public func zoneChanges(
        _ request: ZoneChangesRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> ZoneChangesResponse {
        // Tombstones of the service name no record type; a server that knows this parameter adds it.
        let response: ZoneChangesResponse =
            try await call(.changesZone, in: database, request, query: "tombstoneTypes=true")
        let zones = request.zones.map(\.zoneID)
        return ZoneChangesResponse(zones: try response.zones.sorted(as: zones, by: \.zoneID))
    }
}
