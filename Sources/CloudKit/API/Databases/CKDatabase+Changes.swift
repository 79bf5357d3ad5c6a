extension CKDatabase {
    /// Returns a page of the zones that changed since a token; nil stands for the beginning.
    ///
    /// A shared zone that the user left and joined again appears as both: handle deletions first.
    ///
    /// - Throws: `CKError.changeTokenExpired` when the token is too old: fetch from the beginning.
    public func databaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int? = nil
    ) async throws -> (
        modifications: [CKDatabase.DatabaseChange.Modification],
        deletions: [CKDatabase.DatabaseChange.Deletion], changeToken: CKServerChangeToken,
        moreComing: Bool
    ) {
        try await requests.databaseChanges(since: changeToken, limit: resultsLimit)
    }

    /// Fetches a page of the zones that changed since a token; nil stands for the beginning.
    @preconcurrency
    public func fetchDatabaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modifications: [CKDatabase.DatabaseChange.Modification],
                        deletions: [CKDatabase.DatabaseChange.Deletion],
                        changeToken: CKServerChangeToken, moreComing: Bool
                    ), any Error
                >
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.databaseChanges(
                since: changeToken,
                limit: resultsLimit
            )
        }
    }

    /// Returns a page of a zone's records that changed since a token; nil stands for the beginning.
    ///
    /// - Throws: `CKError.changeTokenExpired` when the token is too old: fetch from the beginning.
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil
    ) async throws -> (
        modificationResultsByID:
            [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
        deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
        moreComing: Bool
    ) {
        try await requests.zoneChanges(
            in: zoneID,
            since: changeToken,
            desiredKeys: desiredKeys,
            limit: resultsLimit
        )
    }

    /// Fetches a page of a zone's records that changed since a token; nil stands for the beginning.
    @preconcurrency
    public func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modificationResultsByID:
                            [CKRecord.ID: Result<
                                CKDatabase.RecordZoneChange.Modification, any Error
                            >],
                        deletions: [CKDatabase.RecordZoneChange.Deletion],
                        changeToken: CKServerChangeToken, moreComing: Bool
                    ), any Error
                >
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.zoneChanges(
                in: zoneID,
                since: changeToken,
                desiredKeys: desiredKeys,
                limit: resultsLimit
            )
        }
    }
}
