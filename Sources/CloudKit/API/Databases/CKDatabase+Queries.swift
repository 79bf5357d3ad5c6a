extension CKDatabase {
    /// Runs a query and returns its first page, with a cursor if there are more.
    ///
    /// - Throws: `CKError.invalidArguments` for a predicate that CloudKit's queries cannot express,
    ///   or a field that is not indexed; `CKError.unknownItem` for a record type that does not
    ///   exist.
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

    /// Runs a query and fetches its first page, with a cursor if there are more.
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

    /// Returns the page that a cursor marks.
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

    /// Fetches the page that a cursor marks.
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

    /// Runs a query and returns its first page, without a cursor for the next one.
    @available(*, deprecated, message: "Use the method that returns a cursor")
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

    /// Returns the records of a query's first page; throws the error of the first record that
    /// failed.
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
