public import CloudKitWire

extension WebClient {
    /// Changes at most 200 records; answers in the order of the operations.
    ///
    /// - Throws: When the whole request fails; a record's own failure is its element of the answer.
    public func modifyRecords(
        _ request: ModifyRecordsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> RecordsResponse {
        let response: RecordsResponse = try await call(.recordsModify, in: database, request)
        return try response.sorted(as: request.operations.map(\.record.recordName))
    }

    /// Fetches at most 200 records by name; answers in the order of the names.
    public func lookupRecords(
        _ request: LookupRecordsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> RecordsResponse {
        let response: RecordsResponse = try await call(.recordsLookup, in: database, request)
        return try response.sorted(as: request.records.map(\.recordName))
    }

    /// Fetches a page of a query's records, in sort order.
    public func queryRecords(
        _ request: QueryRecordsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> RecordsResponse {
        try await call(.recordsQuery, in: database, request)
    }
}
