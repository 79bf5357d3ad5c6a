import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoints of zones: `zones/…`.
struct ZonesEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `zones/list`: returns all zones of the database.
    func list(_ call: Call) async throws -> Data {
        let seal = try await context.seal()
        let zones = try await context.read(call) { reader in
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
    func lookUp(_ call: Call) async throws -> Data {
        let request = try call.message(LookupZonesRequest.self)
        try call.checkCount(request.zones.count, "zones")
        let seal = try await context.seal()
        let zones = try await context.read(call) { needs in
            for id in request.zones {
                if let name = call.ownZoneName(id) { needs.zone(name) }
            }
        } _: { reader in
            let directory = ZoneDirectory(call: call, reader: reader)
            return try request.zones.map { id in
                try Self.item(zone: id) { try directory.zone(id).wire(call, seal, reader) }
            }
        }
        return try WireJSON.encode(ZonesResponse(zones: zones))
    }

    /// Handles `zones/modify`: creates and deletes zones, one after the other.
    func modify(_ call: Call) async throws -> Data {
        let request = try call.message(ModifyZonesRequest.self)
        try call.checkCount(request.operations.count, "operations")
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
        try call.checkUnique(request.operations.map(\.zone.zoneID.zoneName), "zone")
        let seal = try await context.seal()
        let (zones, news) = try await context.write(call, call.scope()) { needs in
            for operation in request.operations { needs.zone(operation.zone.zoneID.zoneName) }
        } _: { writer in
            var news = PushNews()
            let zones = try request.operations.map { operation in
                try Self.item(zone: operation.zone.zoneID) {
                    var change = ZoneCommit(
                        call: call,
                        writer: writer,
                        seal: seal,
                        randomness: context.randomness
                    )
                    defer { news.formUnion(change.news) }
                    return try change.apply(operation)
                }
            }
            return (zones, news)
        }
        context.pushes.announce(news)
        return try WireJSON.encode(ZonesResponse(zones: zones))
    }

    /// Turns an error about one zone into an item of the response; other errors fail the request.
    private static func item<Success: Codable & Hashable & Sendable>(
        zone: WireZoneID,
        _ body: () throws -> Success
    ) throws -> ItemResult<Success> {
        do {
            return .success(try body())
        } catch let error as RequestError where error.serverErrorCode != .authenticationRequired {
            return .failure(ItemError(error, zoneID: zone))
        }
    }
}
