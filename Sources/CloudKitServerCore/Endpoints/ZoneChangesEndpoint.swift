import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoints of zones' change feeds: `changes/zone` and `records/changes`.
struct ZoneChangesEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `changes/zone`: returns the records that changed in each zone, each once, in its
    /// latest state.
    func changes(_ call: Call) async throws -> Data {
        let request = try call.message(ZoneChangesRequest.self)
        try call.checkCount(request.zones.count, "zones")
        try Self.checkChangesExist(call)
        let links = try await context.links(for: call)
        return try await context.read(call) { needs in
            for zone in request.zones {
                Self.addNeeds(of: zone, of: request, call, links.seal, to: &needs)
            }
        } _: { reader in
            var writer = JSONWriter(capacity: 64 * 1024)
            writer.openObject()
            writer.key(ZoneChangesResponse.CodingKeys.zones)
            writer.openArray()
            for zone in request.zones {
                let page: ZoneChangesPage
                do {
                    page = try Self.page(zone, of: request, call, reader, links.seal)
                } catch let error as RequestError where !error.endsRequest {
                    writer.itemError(ItemError(error, zoneID: zone.zoneID))
                    continue
                }
                // An error from here on ends the request because the zone's object is half written.
                try Self.write(page, zone, of: request, call, reader, links, to: &writer)
                context.devices.note(page.next, of: page.zone, call)
            }
            writer.closeArray()
            writer.closeObject()
            return writer.data
        }
    }

    /// Handles `records/changes`: returns the records that changed in one zone, as one object.
    func changesOfOneZone(_ call: Call) async throws -> Data {
        let zone = try call.message(ZoneChangesRequest.Zone.self)
        guard !zone.zoneID.isDefault else {
            throw RequestError(.badRequest, reason: "cannot get changes in default zone")
        }
        try Self.checkChangesExist(call)
        let links = try await context.links(for: call)
        let request = ZoneChangesRequest(zones: [zone])
        return try await context.read(call) { needs in
            Self.addNeeds(of: zone, of: request, call, links.seal, to: &needs)
        } _: { reader in
            let page = try Self.page(zone, of: request, call, reader, links.seal)
            var writer = JSONWriter(capacity: 64 * 1024)
            try Self.write(page, zone, of: request, call, reader, links, to: &writer)
            context.devices.note(page.next, of: page.zone, call)
            return writer.data
        }
    }

    /// Refuses the public database, which has no change feed, and callers without a user.
    private static func checkChangesExist(_ call: Call) throws {
        try call.checkIsNotPublic()
        _ = try call.user()
    }

    private static func addNeeds(
        of asked: ZoneChangesRequest.Zone,
        of request: ZoneChangesRequest,
        _ call: Call,
        _ seal: TokenSeal,
        to needs: inout StorageNeeds
    ) {
        guard let name = call.ownZoneName(asked.zoneID) else { return }
        let feed = ZoneChangesPage.feed(
            after: asked.syncToken,
            isReverse: asked.reverse ?? request.reverse ?? false,
            limit: Limits.pageSize(asked.resultsLimit ?? request.resultsLimit),
            seal
        )
        needs.zone(name) { $0.feeds += feed.map { [$0] } ?? [] }
    }

    private static func page(
        _ asked: ZoneChangesRequest.Zone,
        of request: ZoneChangesRequest,
        _ call: Call,
        _ reader: any StorageReader,
        _ seal: TokenSeal
    ) throws -> ZoneChangesPage {
        let zone = try ZoneDirectory(call: call, reader: reader).zone(asked.zoneID)
        if zone.isDefault {
            throw RequestError(.badRequest, reason: "cannot get changes in default zone")
        }
        return try ZoneChangesPage(
            of: zone,
            after: asked.syncToken,
            isReverse: asked.reverse ?? request.reverse ?? false,
            limit: Limits.pageSize(asked.resultsLimit ?? request.resultsLimit),
            seal,
            reader
        )
    }

    private static func write(
        _ page: ZoneChangesPage,
        _ asked: ZoneChangesRequest.Zone,
        of request: ZoneChangesRequest,
        _ call: Call,
        _ reader: any StorageReader,
        _ links: AssetLinks,
        to writer: inout JSONWriter
    ) throws {
        let types = (asked.desiredRecordTypes ?? request.desiredRecordTypes).map(Set.init)
        let records = RecordResponseWriter(
            zone: page.zone,
            namesZone: true,
            numbersAsStrings: asked.numbersAsStrings ?? request.numbersAsStrings
                ?? request.numberAsStrings ?? false,
            namesTypeOfTombstones: call.parameters.isTrue("tombstoneTypes"),
            links: links,
            work: call.work,
            caller: call.caller.user?.recordName
        )
        typealias Key = ZoneChangesResponse.Zone.CodingKeys
        // Databases with roles have no change feed.
        let sight = page.zone.sight(call, schema: nil)
        let keys = asked.desiredKeys ?? request.desiredKeys
        writer.openObject()
        writer.key(Key.zoneID)
        writer.zoneID(page.zone.id)
        writer.key(Key.records)
        writer.openArray()
        for entry in page.entries where types?.contains(entry.record.type) ?? true {
            let record = entry.record
            let isShown = try sight.shows(record, reader)
            guard isShown || entry.isSighting else { continue }
            if record.isDeleted || !isShown {
                records.writeTombstone(record.name, type: record.type, to: &writer)
            } else {
                try call.work.reserve(record)
                try records.write(record, desiredKeys: keys, to: &writer)
            }
        }
        writer.closeArray()
        writer.member(Key.syncToken, page.next.sealed(by: links.seal, for: .zoneChanges))
        writer.member(Key.moreComing, page.hasMore)
        writer.closeObject()
    }
}
