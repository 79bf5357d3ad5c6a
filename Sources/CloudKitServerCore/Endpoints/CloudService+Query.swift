import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Handles `records/query`: returns the records that match all filters, in order, page by page.
    func queryRecords(_ call: Call) async throws -> Data {
        let request = try call.message(QueryRecordsRequest.self)
        let links = try await links(call.request.baseURL, now: call.now)
        return try await read(call) { [schemas] reader in
            var writer = JSONWriter(capacity: 16 * 1024)
            try Self.writePage(of: request, call, reader, schemas, links, to: &writer)
            return writer.data
        }
    }

    /// Handles `internal/records/query/batch`: returns the first or next pages of several queries,
    /// all of the same moment.
    ///
    /// If one query is refused, the request fails, as with a single query.
    func queryBatch(_ call: Call) async throws -> Data {
        let request = try call.message(QueryBatchRequest.self)
        try checkCount(request.batch.count, "queries")
        let links = try await links(call.request.baseURL, now: call.now)
        return try await read(call) { [schemas] reader in
            var writer = JSONWriter(capacity: 64 * 1024)
            writer.openObject()
            writer.key(QueryBatchRequest.CodingKeys.batch)
            writer.openArray()
            for (place, query) in request.batch.enumerated() {
                do {
                    try Self.writePage(of: query, call, reader, schemas, links, to: &writer)
                } catch var error as RequestError {
                    error.reason = "Query \(place) of the batch: " + (error.reason ?? "")
                    throw error
                }
            }
            writer.closeArray()
            writer.closeObject()
            return writer.data
        }
    }

    private static func writePage(
        of request: QueryRecordsRequest,
        _ call: Call,
        _ reader: any StorageReader,
        _ schemas: SchemaCache,
        _ links: AssetLinks,
        to writer: inout JSONWriter
    ) throws {
        try call.work.check(request.desiredKeys?.count, RequestBudget.namesLimit, "desiredKeys")
        let zones = try zones(of: request, ZoneDirectory(call: call, reader: reader))
        let schema = try schemas.current(call.environment, reader)
        let query = try CompiledQuery(request.query, in: schema, call)
        let identity = QueryCursor.Identity(of: request.query, in: zones)
        let start = try request.continuationMarker.map {
            try QueryCursor($0, with: links.seal, identity)
        }
        let isIndexed = try IndexForm(environment: call.environment.id).isCurrent(reader)
        let plan =
            if let start {
                QueryPlan(query, choice: start.driver)
            } else if isIndexed {
                try QueryPlan.best(for: query, in: zones, reader)
            } else {
                QueryPlan(query, choice: QueryPlan.allChoice)
            }
        var run = QueryRun(
            query: query,
            plan: plan,
            reader: reader,
            sights: Dictionary(
                zones.map { ($0.zone.id, $0.sight(call, schema: schema)) },
                uniquingKeysWith: { first, _ in first }
            ),
            limit: pageSize(request.resultsLimit),
            start: start,
            work: call.work
        )
        try run.run(in: zones)
        let page = run.page
        writer.openObject()
        try write(page.results, of: request, call, links, to: &writer)
        writer.member(
            RecordsResponse.CodingKeys.continuationMarker,
            page.next?.sealed(by: links.seal, identity)
        )
        writeSyncToken(of: zones, call, links.seal, to: &writer)
        writer.closeObject()
    }

    private static func zones(
        of request: QueryRecordsRequest,
        _ directory: ZoneDirectory
    ) throws -> [ZoneView] {
        if request.zoneID == nil, request.zoneWide == true { return try directory.zones() }
        return [try directory.zone(request.zoneID ?? .defaultZone)]
    }

    private static func write(
        _ results: ArraySlice<QueryRun.Result>,
        of request: QueryRecordsRequest,
        _ call: Call,
        _ links: AssetLinks,
        to writer: inout JSONWriter
    ) throws {
        writer.key(RecordsResponse.CodingKeys.records)
        writer.openArray()
        for result in results {
            try call.work.reserve(result.record)
            let answer = RecordResponseWriter(
                zone: result.zone,
                namesZone: !result.zone.isDefault,
                numbersAsStrings: request.numbersAsStrings ?? false,
                namesTypeOfTombstones: false,
                links: links,
                work: call.work,
                caller: call.caller.user?.recordName
            )
            try answer.write(result.record, desiredKeys: request.desiredKeys, to: &writer)
        }
        writer.closeArray()
    }

    /// Writes the zone's newest change token if the client requests it in the URL, as iCloud's own
    /// web apps do.
    static func writeSyncToken(
        of zones: [ZoneView],
        _ call: Call,
        _ seal: TokenSeal,
        to writer: inout JSONWriter
    ) {
        guard call.parameters.isTrue("getCurrentSyncToken"), zones.count == 1,
            let zone = zones.first, !zone.isDefault
        else { return }
        let token = zone.syncToken(after: zone.zone.headSequence)
        writer.member(
            RecordsResponse.CodingKeys.syncToken,
            token.sealed(by: seal, for: .zoneChanges)
        )
    }
}

/// The body of `internal/records/query/batch`.
private struct QueryBatchRequest: Decodable {
    /// The keys, of the response too.
    enum CodingKeys: CodingKey {
        case batch
    }

    let batch: [QueryRecordsRequest]
}
