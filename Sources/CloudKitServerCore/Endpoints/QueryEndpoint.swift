import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoints of queries: `records/query`, and several at once.
struct QueryEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `records/query`: returns the records that match all filters, in order, page by page.
    func query(_ call: Call) async throws -> Data {
        let request = try call.message(QueryRecordsRequest.self)
        let links = try await context.links(for: call)
        return try await context.read(call) { needs in
            addNeeds(of: request, call, to: &needs)
        } _: { reader in
            var writer = JSONWriter(capacity: 16 * 1024)
            try writePage(of: request, call, reader, links, to: &writer)
            return writer.data
        }
    }

    /// Handles `internal/records/query/batch`: returns the first or next pages of several queries,
    /// all of the same moment.
    ///
    /// If one query is refused, the request fails, as with a single query.
    func queryBatch(_ call: Call) async throws -> Data {
        let request = try call.message(QueryBatchRequest.self)
        try call.checkCount(request.batch.count, "queries")
        let links = try await context.links(for: call)
        return try await context.read(call) { needs in
            for query in request.batch { addNeeds(of: query, call, to: &needs) }
        } _: { reader in
            var writer = JSONWriter(capacity: 64 * 1024)
            writer.openObject()
            writer.key(QueryBatchRequest.CodingKeys.batch)
            writer.openArray()
            for (place, query) in request.batch.enumerated() {
                do {
                    try writePage(of: query, call, reader, links, to: &writer)
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

    /// Adds what a query reads before its walk: which index it takes depends on their numbers of entries.
    private func addNeeds(
        of request: QueryRecordsRequest,
        _ call: Call,
        to needs: inout StorageNeeds
    ) {
        needs.documents.insert(IndexForm(environment: call.environment.id).key)
        guard let name = call.ownZoneName(request.zoneID ?? .defaultZone) else { return }
        needs.zone(name)
        // A page that continues another one counts nothing.
        guard request.continuationMarker == nil,
            let schema = context.schemas.known(call.environment.schemaVersion),
            // The read refuses it with the reason.
            let query = try? CompiledQuery(request.query, in: schema, call)
        else { return }
        let owner = call.path.database == .public ? nil : call.caller.user?.recordName
        let home = ReferenceHome(zoneName: name, owner: owner ?? ZoneDirectory.publicOwner)
        needs.zone(name) { $0.counts += QueryPlan.counts(of: query, home) }
    }

    private func writePage(
        of request: QueryRecordsRequest,
        _ call: Call,
        _ reader: any StorageReader,
        _ links: AssetLinks,
        to writer: inout JSONWriter
    ) throws {
        try call.work.check(request.desiredKeys?.count, RequestBudget.namesLimit, "desiredKeys")
        let zones = try Self.zones(of: request, ZoneDirectory(call: call, reader: reader))
        let schema = try context.schemas.current(call.environment, reader)
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
            limit: Limits.pageSize(request.resultsLimit),
            start: start,
            work: call.work
        )
        try run.run(in: zones)
        let page = run.page
        writer.openObject()
        try Self.write(page.results, of: request, call, links, to: &writer)
        writer.member(
            RecordsResponse.CodingKeys.continuationMarker,
            page.next?.sealed(by: links.seal, identity)
        )
        RecordResponseWriter.writeSyncToken(of: zones, call, links.seal, to: &writer)
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
            let records = RecordResponseWriter(
                zone: result.zone,
                namesZone: !result.zone.isDefault,
                numbersAsStrings: request.numbersAsStrings ?? false,
                namesTypeOfTombstones: false,
                links: links,
                work: call.work,
                caller: call.caller.user?.recordName
            )
            try records.write(result.record, desiredKeys: request.desiredKeys, to: &writer)
        }
        writer.closeArray()
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
