import CloudKitWebClient
import CloudKitWire
import Foundation

/// A page of a query's records, in the query's order.
struct QueryPage: Sendable {
    var matches: [(CKRecord.ID, Result<CKRecord, any Error>)] = []
    var cursor: CKQueryOperation.Cursor?
}

extension DatabaseRequests {
    /// Fetches the first page of a query; a nil zone stands for all zones.
    ///
    /// - Throws: `invalidArguments` for a predicate that CloudKit's queries cannot express.
    func query(
        _ query: CKQuery,
        zoneID: CKRecordZone.ID?,
        desiredKeys: [CKRecord.FieldKey]?,
        limit: Int
    ) async throws(CKError) -> QueryPage {
        guard zoneID != nil || scope != .shared else {
            throw CKError(
                .invalidArguments,
                message: "A query of the shared database must name a zone"
            )
        }
        guard query.recordType != CKRecord.SystemType.userRecord else {
            throw CKError(
                .invalidArguments,
                message: "User records cannot be queried; fetch one by its ID"
            )
        }
        let context = try await context()
        let translated = try TranslatedQuery(
            query,
            owners: context.owners,
            home: zoneID ?? (scope == .private ? nil : .default)
        )
        guard !translated.matchesNothing else { return QueryPage() }
        return try await page(
            QueryRecordsRequest(
                query: translated.wire,
                zoneID: zoneID.map(context.owners.wire),
                zoneWide: zoneID == nil && scope == .private ? true : nil
            ),
            desiredKeys: desiredKeys,
            limit: limit,
            context
        )
    }

    /// Fetches the page that a cursor marks.
    func query(
        after cursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]?,
        limit: Int
    ) async throws(CKError) -> QueryPage {
        try await page(
            cursor.request,
            desiredKeys: desiredKeys,
            limit: limit,
            try await context()
        )
    }

    private func page(
        _ request: QueryRecordsRequest,
        desiredKeys: [CKRecord.FieldKey]?,
        limit: Int,
        _ context: Context
    ) async throws(CKError) -> QueryPage {
        var request = request
        request.desiredKeys = desiredKeys
        request.resultsLimit = limit > 0 ? min(limit, Limits.recordsPerResponse) : nil
        let response = try await native { [request] () throws(WebClientError) in
            try await context.client.queryRecords(request, in: context.database)
        }
        let home = request.zoneID.map(context.owners.native) ?? .default
        let records = await context.materialize(response.records, home: home, assets: .all)
        var page = QueryPage()
        for (result, record) in zip(response.records, records) {
            guard let recordID = context.identity(of: result, home: home) else { continue }
            page.matches.append((recordID, record))
        }
        if let marker = response.continuationMarker {
            request.continuationMarker = marker
            page.cursor = CKQueryOperation.Cursor(request)
        }
        return page
    }
}

extension DatabaseRequests.Context {
    /// Returns the ID of a response's record; nil if the response has none.
    fileprivate func identity(
        of result: ItemResult<WireRecord>,
        home: CKRecordZone.ID
    ) -> CKRecord.ID? {
        let (name, zoneID) =
            switch result {
            case .success(let wire): (wire.recordName, wire.zoneID)
            case .failure(let error): (error.recordName, error.zoneID)
            }
        guard let name, !name.isEmpty else { return nil }
        return CKRecord.ID(recordName: name, zoneID: zoneID.map(owners.native) ?? home)
    }
}
