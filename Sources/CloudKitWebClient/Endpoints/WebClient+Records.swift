public import CloudKitWire

extension WebClient {
    /// Changes at most 200 records; returns results in the order of the operations.
    ///
    /// - Throws: When the whole request fails; the failure of a single record is its element of the
    ///   response.
    public func modifyRecords(
        _ request: ModifyRecordsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> RecordsResponse {
        // A server that supports this parameter reports whether a share was left.
        let mayLeave =
            database == .shared && request.operations.contains { $0.operationType.isDelete }
        let response: RecordsResponse = try await call(
            .recordsModify,
            in: database,
            request,
            query: mayLeave ? "tombstoneTypes=true" : ""
        )
        let names = request.operations.map(\.record).map { record in
            record.recordName.map {
                ResponseItemName(record: $0, in: record.zoneID ?? request.zoneID)
            }
        }
        return try response.sorted(as: names)
    }

    /// Fetches at most 200 records by name; returns results in the order of the names.
    public func lookupRecords(
        _ request: LookupRecordsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> RecordsResponse {
        let response: RecordsResponse = try await call(.recordsLookup, in: database, request)
        return try response.sorted(
            as: request.records.map { ResponseItemName(record: $0.recordName, in: request.zoneID) }
        )
    }

    /// Fetches a page of a query's records, in sort order.
    public func queryRecords(
        _ request: QueryRecordsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> RecordsResponse {
        try await call(.recordsQuery, in: database, request)
    }
}
