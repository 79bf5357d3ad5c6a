extension CKDatabase {
    /// Lists all zones.
    public func allRecordZones() async throws -> [CKRecordZone] {
        try await requests.allZones()
    }

    /// Lists all zones.
    public func fetchAllRecordZones(
        completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.allZones()
        }
    }

    /// Fetches a zone.
    ///
    /// - Throws: `CKError.zoneNotFound` when there is none.
    public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        try await requests.fetchZones([zoneID]).single(zoneID)
    }

    /// Fetches a zone.
    public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.fetchZones([zoneID]).single(zoneID)
        }
    }

    /// Fetches zones; every identity has an entry in the answer.
    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        try await requests.fetchZones(ids)
    }

    /// Fetches zones; every identity has an entry in the answer.
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

    /// Makes a zone; one that exists is left as it is.
    @discardableResult
    public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await requests.modifyZones(saving: [zone], deleting: []).saveResults
            .single(zone.zoneID)
    }

    /// Makes a zone; one that exists is left as it is.
    public func save(
        _ zone: CKRecordZone,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.modifyZones(saving: [zone], deleting: []).saveResults
                .single(zone.zoneID)
        }
    }

    /// Deletes a zone with all its records; one that does not exist counts as deleted.
    @discardableResult
    public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        try await requests.delete(zoneID)
    }

    /// Deletes a zone with all its records; one that does not exist counts as deleted.
    public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.delete(zoneID)
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

extension DatabaseRequests {
    fileprivate func delete(_ zoneID: CKRecordZone.ID) async throws(CKError) -> CKRecordZone.ID {
        try await modifyZones(saving: [], deleting: [zoneID]).deleteResults.single(zoneID)
        return zoneID
    }
}
