extension CKDatabase {
    /// Searches records: the first page, with a cursor where there are more.
    ///
    /// - Throws: `CKError.invalidArguments` for what CloudKit's queries cannot say, or for a field
    ///   that is not indexed; `CKError.unknownItem` for a record type that does not exist.
    public func records(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
        queryCursor: CKQueryOperation.Cursor?
    ) {
        try await requests.search(query, zoneID, desiredKeys, resultsLimit)
    }

    /// Searches records: the first page, with a cursor where there are more.
    @preconcurrency
    public func fetch(
        withQuery query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
                        queryCursor: CKQueryOperation.Cursor?
                    ), any Error
                >
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.search(query, zoneID, desiredKeys, resultsLimit)
        }
    }

    /// Fetches the page of a cursor.
    public func records(
        continuingMatchFrom queryCursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
        queryCursor: CKQueryOperation.Cursor?
    ) {
        try await requests.search(after: queryCursor, desiredKeys, resultsLimit)
    }

    /// Fetches the page of a cursor.
    @preconcurrency
    public func fetch(
        withCursor queryCursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
                        queryCursor: CKQueryOperation.Cursor?
                    ), any Error
                >
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.search(after: queryCursor, desiredKeys, resultsLimit)
        }
    }

    // MARK: Deprecated

    /// Searches records, without a way to the second page.
    @available(*, deprecated, message: "Use the form whose answer has a cursor")
    @_disfavoredOverload
    public func records(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?
    ) async throws -> [CKRecord] {
        try await requests.firstPage(query, zoneID)
    }
}

extension DatabaseRequests {
    fileprivate typealias Matches = (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
        queryCursor: CKQueryOperation.Cursor?
    )

    fileprivate func search(
        _ query: CKQuery,
        _ zoneID: CKRecordZone.ID?,
        _ desiredKeys: [CKRecord.FieldKey]?,
        _ limit: Int
    ) async throws(CKError) -> Matches {
        let page = try await self.query(
            query,
            zoneID: zoneID,
            desiredKeys: desiredKeys,
            limit: limit
        )
        return (page.matches, page.cursor)
    }

    fileprivate func search(
        after cursor: CKQueryOperation.Cursor,
        _ desiredKeys: [CKRecord.FieldKey]?,
        _ limit: Int
    ) async throws(CKError) -> Matches {
        let page = try await query(after: cursor, desiredKeys: desiredKeys, limit: limit)
        return (page.matches, page.cursor)
    }

    /// The records of a query's first page; fails with the first of them that failed.
    func firstPage(
        _ query: CKQuery,
        _ zoneID: CKRecordZone.ID?
    ) async throws(CKError) -> [CKRecord] {
        var records: [CKRecord] = []
        for (recordID, result) in try await search(query, zoneID, nil, 0).matchResults {
            records.append(try [recordID: result].single(recordID))
        }
        return records
    }
}
