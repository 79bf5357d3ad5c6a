extension CKDatabase {
    /// Fetches zones; every identity has an entry in the answer.
    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        try await requests.fetchZones(ids)
    }

    /// Fetches zones; every identity has an entry in the answer.
    @preconcurrency
    public func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.fetchZones(zoneIDs)
        }
    }

    /// Makes and deletes zones; every item has an entry in the answer.
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone],
        deleting recordZoneIDsToDelete: [CKRecordZone.ID]
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        try await requests.modifyZones(saving: recordZonesToSave, deleting: recordZoneIDsToDelete)
    }

    /// Makes and deletes zones; every item has an entry in the answer.
    @preconcurrency
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone],
        deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
                        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.modifyZones(
                saving: recordZonesToSave,
                deleting: recordZoneIDsToDelete
            )
        }
    }
}
