public import CloudKitWire

extension WebClient {
    /// Fetches a page of the zones that changed.
    public func databaseChanges(
        _ request: DatabaseChangesRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> DatabaseChangesResponse {
        // A server that supports this parameter adds the reason why a zone is gone that no app
        // deleted.
        try await call(.changesDatabase, in: database, request, query: "deletionReasons=true")
    }

    /// Fetches a page of the changed records of each zone, in the order of the zones.
    public func zoneChanges(
        _ request: ZoneChangesRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> ZoneChangesResponse {
        // Tombstones of the service have no record type; a server that supports this parameter adds
        // it.
        let response: ZoneChangesResponse =
            try await call(.changesZone, in: database, request, query: "tombstoneTypes=true")
        let zones = request.zones.map(\.zoneID)
        return ZoneChangesResponse(zones: try response.zones.sorted(as: zones, by: \.zoneID))
    }
}
