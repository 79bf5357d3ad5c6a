import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Handles `zones/list`: returns all zones of the database.
    func listZones(_ call: Call) async throws -> Data {
        let seal = try await seal()
        let zones = try await read(call) { reader in
            try ZoneDirectory(call: call, reader: reader).zones()
                .map { try $0.wire(call, seal, reader) }
        }
        // The documented form of the request is a GET, and its response contains `atomic`. Clients
        // that send POST and check every key of a response expect none.
        let isDocumentedForm = call.request.method == "GET"
        let shown = zones.map { zone in
            var zone = zone
            if !isDocumentedForm { zone.atomic = nil }
            return zone
        }
        return try WireJSON.encode(ZonesResponse(zones: shown.map { .success($0) }))
    }

    /// Handles `zones/lookup`: returns zones by ID.
    func lookUpZones(_ call: Call) async throws -> Data {
        let request = try call.message(LookupZonesRequest.self)
        try checkCount(request.zones.count, "zones")
        let seal = try await seal()
        let zones = try await read(call) { reader in
            let directory = ZoneDirectory(call: call, reader: reader)
            return try request.zones.map { id in
                try Self.item(zone: id) { try directory.zone(id).wire(call, seal, reader) }
            }
        }
        return try WireJSON.encode(ZonesResponse(zones: zones))
    }

    /// Handles `zones/modify`: creates and deletes zones, one after the other.
    func modifyZones(_ call: Call) async throws -> Data {
        let request = try call.message(ModifyZonesRequest.self)
        try checkCount(request.operations.count, "operations")
        guard call.path.database == .private else {
            let leaves =
                call.path.database == .shared
                && request.operations.contains { $0.operationType == .delete }
            throw RequestError(
                .badRequest,
                reason: "endpoint not applicable in the database type "
                    + "'\(call.path.database.rawValue)db'"
                    + (leaves ? "; delete the record of a share here to leave it" : "")
            )
        }
        _ = try call.user()
        try checkUnique(request.operations.map(\.zone.zoneID.zoneName), "zone")
        let seal = try await seal()
        let (zones, news) = try await write(call) { [randomness] writer in
            var news = PushNews()
            let zones = try request.operations.map { operation in
                try Self.item(zone: operation.zone.zoneID) {
                    var change = ZoneCommit(
                        call: call,
                        writer: writer,
                        seal: seal,
                        randomness: randomness
                    )
                    defer { news.formUnion(change.news) }
                    return try change.apply(operation)
                }
            }
            return (zones, news)
        }
        announce(news)
        return try WireJSON.encode(ZonesResponse(zones: zones))
    }

    /// Turns an error about one zone into an item of the response; other errors fail the request.
    static func item<Success: Codable & Hashable & Sendable>(
        zone: WireZoneID,
        _ body: () throws -> Success
    ) throws -> ItemResult<Success> {
        do {
            return .success(try body())
        } catch let error as RequestError where error.serverErrorCode != .authenticationRequired {
            return .failure(ItemError(error, zoneID: zone))
        }
    }

    /// Refuses more items than a request may have.
    func checkCount(
        _ count: Int,
        _ what: String,
        limit: Int = Limits.operationsPerRequest
    ) throws(RequestError) {
        guard count <= limit else {
            throw RequestError(
                .badRequest,
                reason: "The request has \(count) \(what); at most \(limit) are allowed",
                nativeErrorCode: .limitExceeded
            )
        }
    }

    /// Refuses a request that names an item twice.
    func checkUnique(_ names: some Sequence<String>, _ what: String) throws(RequestError) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw RequestError(
                .badRequest,
                reason: "The request has more than one operation for the \(what) '\(name)'"
            )
        }
    }
}
