public import CloudKitWire

extension WebClient {
    /// The size of one modify request: half of a server's limit, because JSON escapes and names are
    /// not counted exactly.
    private static let bytesPerRequest = Limits.requestBodyBytes / 2

    /// Changes any number of records of one zone, with as many requests as the limits require.
    ///
    /// Requests are sent in order. With `atomic`, each is all or nothing, and the first that fails is
    /// the last one sent: the operations after it fail with `ATOMIC_ERROR`. This package's server
    /// accepts 400 operations in one atomic request, others 200.
    ///
    /// - Parameters:
    ///   - operations: The changes, at most one for a record.
    ///   - zoneID: The zone of all records.
    ///   - atomic: Whether each request is all or nothing; nil for a zone that does not support it.
    ///   - desiredKeys: The fields that the responses contain; nil for all.
    ///   - database: The database of the zone.
    ///   - receive: Receives the results of each request, in the order of the operations.
    /// - Throws: When a request fails as a whole; `receive` has received the results of those before.
    public func modify(
        _ operations: [RecordOperation],
        zoneID: WireZoneID,
        atomic: Bool?,
        desiredKeys: [String]? = nil,
        in database: DatabaseScope,
        receive: ([ItemResult<WireRecord>]) -> Void
    ) async throws(WebClientError) {
        var rest = operations[...]
        let isOneUnit = atomic == true && credentials.serverHasExtensions == true
        let limit =
            isOneUnit ? WireExtensions.operationsPerRequest : Limits.operationsPerRequest
        for batch in Self.batches(of: operations, limit: limit) {
            let response = try await modifyRecords(
                ModifyRecordsRequest(
                    operations: Array(batch),
                    zoneID: zoneID,
                    atomic: atomic,
                    desiredKeys: desiredKeys
                ),
                in: database
            )
            let results = response.records
            receive(results)
            rest = rest.dropFirst(batch.count)
            if atomic == true, results.contains(where: \.isFailure) { break }
        }
        if !rest.isEmpty { receive(rest.map(Self.abandoned)) }
    }

    private static func abandoned(_ operation: RecordOperation) -> ItemResult<WireRecord> {
        .failure(
            ItemError(
                .atomicError,
                reason: "An earlier request of the same batch failed",
                recordName: operation.record.recordName
            )
        )
    }

    /// Splits operations into batches that fit into one request each.
    static func batches(
        of operations: [RecordOperation],
        limit: Int = Limits.operationsPerRequest
    ) -> [ArraySlice<RecordOperation>] {
        var batches: [ArraySlice<RecordOperation>] = []
        var start = operations.startIndex
        var bytes = 0
        for index in operations.indices {
            let size = operations[index].record.byteCount
            if index - start == limit
                || (index > start && bytes + size > bytesPerRequest)
            {
                batches.append(operations[start..<index])
                start = index
                bytes = 0
            }
            bytes += size
        }
        if start < operations.endIndex { batches.append(operations[start...]) }
        return batches
    }

    /// Fetches any number of records of one zone, with as many requests as the limits require.
    ///
    /// - Returns: One element for each name, in order.
    public func lookup(
        _ recordNames: [String],
        zoneID: WireZoneID,
        desiredKeys: [String]? = nil,
        in database: DatabaseScope
    ) async throws(WebClientError) -> [ItemResult<WireRecord>] {
        var results: [ItemResult<WireRecord>] = []
        var rest = recordNames[...]
        while !rest.isEmpty {
            let page = rest.prefix(Limits.recordsPerResponse)
            rest = rest.dropFirst(page.count)
            let response = try await lookupRecords(
                LookupRecordsRequest(
                    records: page.map { .init(recordName: $0) },
                    zoneID: zoneID,
                    desiredKeys: desiredKeys
                ),
                in: database
            )
            results += response.records
        }
        return results
    }

    /// Requests upload addresses for any number of files, in order.
    public func uploadTokens(
        for files: [UploadAssetsRequest.Token],
        zoneID: WireZoneID,
        in database: DatabaseScope
    ) async throws(WebClientError) -> [UploadAssetsResponse.Token] {
        var tokens: [UploadAssetsResponse.Token] = []
        var rest = files[...]
        while !rest.isEmpty {
            let page = rest.prefix(Limits.uploadTokensPerRequest)
            rest = rest.dropFirst(page.count)
            let response = try await uploadTokens(
                UploadAssetsRequest(zoneID: zoneID, tokens: Array(page)),
                in: database
            )
            tokens += response.tokens
        }
        return tokens
    }
}

extension Result {
    var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
