import CloudKitWebClient
import CloudKitWire
import Foundation

extension DatabaseRequests {
    typealias DatabaseChangeResults = (
        modifications: [CKDatabase.DatabaseChange.Modification],
        deletions: [CKDatabase.DatabaseChange.Deletion], changeToken: CKServerChangeToken,
        moreComing: Bool
    )
    typealias ZoneChangeResults = (
        modificationResultsByID:
            [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
        deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
        moreComing: Bool
    )

    /// Fetches a page of the zones that changed since a token.
    func databaseChanges(
        since token: CKServerChangeToken?,
        limit: Int?
    ) async throws(CKError) -> DatabaseChangeResults {
        try refusePublic()
        let context = try await context()
        let response = try await native { () throws(WebClientError) in
            try await context.client.databaseChanges(
                DatabaseChangesRequest(syncToken: token?.token, resultsLimit: limit.positive),
                in: context.database
            )
        }
        var modifications: [CKDatabase.DatabaseChange.Modification] = []
        var deletions: [CKDatabase.DatabaseChange.Deletion] = []
        for zone in response.zones {
            let zoneID = context.owners.native(zone.zoneID)
            if zone.deleted ?? false {
                deletions.append(.init(zoneID: zoneID, reason: .init(zone.deletionReason)))
            } else {
                modifications.append(.init(zoneID: zoneID))
            }
        }
        return (
            modifications, deletions, CKServerChangeToken(token: response.syncToken),
            response.moreComing ?? false
        )
    }

    /// Fetches a page of the records of a zone that changed since a token.
    func zoneChanges(
        in zoneID: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]?,
        limit: Int?
    ) async throws(CKError) -> ZoneChangeResults {
        let page = try await zoneChangePage(
            in: zoneID,
            since: token,
            desiredKeys: desiredKeys,
            limit: limit
        ).get()
        var results: ZoneChangeResults = ([:], page.deleted, page.token, page.moreComing)
        for (recordID, record) in page.changed {
            results.modificationResultsByID[recordID] = record.map { .init(record: $0) }
        }
        return results
    }

    /// Fetches a page of a zone's records that changed since a token, or the zone's error.
    ///
    /// - Throws: An error when the request fails as a whole.
    func zoneChangePage(
        in zoneID: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]?,
        limit: Int?,
        assets: Context.AssetFiles = .all
    ) async throws(CKError) -> Result<ZoneRecordsPage, CKError> {
        try refusePublic()
        let context = try await context()
        let request = ZoneChangesRequest.Zone(
            zoneID: context.owners.wire(zoneID),
            syncToken: token?.token,
            resultsLimit: limit.positive.map { min($0, Limits.recordsPerResponse) },
            desiredKeys: desiredKeys
        )
        let response = try await native { () throws(WebClientError) in
            try await context.client.zoneChanges(
                ZoneChangesRequest(zones: [request]),
                in: context.database
            )
        }
        guard let result = response.zones.first else {
            throw CKError(
                .serverResponseLost,
                message: "The server sent no changes of zone \(zoneID)"
            )
        }
        switch result {
        case .failure(let error): return .failure(CKError(error))
        case .success(let changes):
            let page = await context.page(changes, home: zoneID, assets: assets)
            // The page's token would skip records whose files were not downloaded.
            try throwIfCancelled(among: page.changed.map(\.result.error))
            return .success(page)
        }
    }

    private func refusePublic() throws(CKError) {
        guard scope != .public else {
            throw CKError(
                .badDatabase,
                message: "The public database has no change feed; use a query"
            )
        }
    }
}

extension DatabaseRequests.Context {
    fileprivate func page(
        _ changes: ZoneChangesResponse.Zone,
        home: CKRecordZone.ID,
        assets: AssetFiles
    ) async -> ZoneRecordsPage {
        var page = ZoneRecordsPage(
            token: CKServerChangeToken(token: changes.syncToken),
            moreComing: changes.moreComing ?? false
        )
        var live: [ItemResult<WireRecord>] = []
        var identities: [CKRecord.ID] = []
        for result in changes.records {
            // An error stands for its record, under its name.
            let wire = try? result.get()
            let name = wire?.recordName ?? result.itemError?.recordName
            guard let name, !name.isEmpty else { continue }
            let recordID = CKRecord.ID(
                recordName: name,
                zoneID: wire?.zoneID.map { owners.native($0, near: home) } ?? home
            )
            if wire?.deleted ?? false {
                page.deleted.append(.init(recordID: recordID, recordType: wire?.recordType ?? ""))
            } else {
                live.append(result)
                identities.append(recordID)
            }
        }
        let records = await materialize(live, home: home, assets: assets)
        page.changed = Array(zip(identities, records))
        return page
    }
}

extension CKDatabase.DatabaseChange.Deletion.Reason {
    /// Creates the reason for a zone's deletion; an unknown or missing reason means that an app
    /// deleted it.
    fileprivate init(_ reason: ZoneDeletionReason?) {
        switch reason {
        case .purged: self = .purged
        case .encryptedDataReset: self = .encryptedDataReset
        case .unknown, nil: self = .deleted
        }
    }
}

extension Result where Failure == ItemError {
    fileprivate var itemError: ItemError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension Int? {
    /// The limit; nil, like 0 and less, leaves it to the server.
    var positive: Int? {
        if let self, self > 0 { self } else { nil }
    }
}

/// A page of a zone's changes, in the feed's order.
struct ZoneRecordsPage: Sendable {
    /// The new and changed records, in their current version.
    var changed: [(recordID: CKRecord.ID, result: Result<CKRecord, any Error>)] = []
    /// The deleted records.
    var deleted: [CKDatabase.RecordZoneChange.Deletion] = []
    /// The token of the next page.
    let token: CKServerChangeToken
    /// `true` when there is a next page now.
    let moreComing: Bool
}
