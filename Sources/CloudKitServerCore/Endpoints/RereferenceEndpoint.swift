import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoint of assets for further records: `assets/rereference`.
struct RereferenceEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `assets/rereference`: returns assets of saved records in a form that other records accept.
    func rereference(_ call: Call) async throws -> Data {
        let request = try call.message(RereferenceRequest.self)
        try call.checkCount(request.assets.count, "assets")
        for item in request.assets {
            try call.work.check(name: item.recordName)
            try call.work.check(name: item.fieldName)
        }
        _ = try call.user()
        let links = try await context.links("", now: call.now)
        let end = call.now + AssetLinks.receiptSeconds * 1000
        // Nobody deletes a record of the source before its assets are held.
        let scope = call.scope(of: request.zoneID ?? .defaultZone)
        return try await context.write(call, scope) { storage in
            let directory = ZoneDirectory(call: call, reader: storage)
            let source = try directory.zone(request.zoneID ?? .defaultZone)
            let target = try request.targetZoneID.map { try directory.zone($0) } ?? source
            let sight = try source.sight(call, context.schemas, storage)
            var held: [Data] = []
            var writer = JSONWriter()
            writer.openObject()
            writer.key(RereferenceRequest.CodingKeys.assets)
            writer.openArray()
            for item in request.assets {
                guard let asset = try Self.asset(item, in: source, sight, storage) else {
                    let reason = "No asset in field '\(item.fieldName)' of '\(item.recordName)'"
                    let error = ItemError(.notFound, reason: reason, recordName: item.recordName)
                    writer.itemError(error)
                    continue
                }
                let place = AssetLinks.Place(
                    database: target.database.id.rawValue,
                    zone: target.zone.id.rawValue,
                    recordName: AssetLinks.Place.anyName,
                    fieldName: AssetLinks.Place.anyName
                )
                if let checksum = asset.checksumData { held.append(checksum) }
                writer.value(.asset(links.adding(receiptFor: place, to: asset)))
            }
            writer.closeArray()
            writer.closeObject()
            // The record may be deleted before the receipt is used.
            try AssetHolds().hold(held, until: end, storage)
            return writer.data
        }
    }

    private static func asset(
        _ item: RereferenceRequest.Item,
        in zone: ZoneView,
        _ sight: RecordSight,
        _ reader: any StorageReader
    ) throws -> WireAsset? {
        guard let record = try reader.record(zone.zone.id, name: item.recordName),
            !record.isDeleted, !record.isDamaged, try sight.shows(record, reader)
        else { return nil }
        return try RecordFields(stored: record.fields).fields[item.fieldName]?.value?.asset
    }
}

/// The body of `assets/rereference`.
private struct RereferenceRequest: Decodable {
    struct Item: Decodable {
        let recordName: String
        let fieldName: String
    }

    /// The keys; the response has `assets` too.
    enum CodingKeys: CodingKey {
        case zoneID, targetZoneID, assets
    }

    let zoneID: WireZoneID?
    let targetZoneID: WireZoneID?
    let assets: [Item]
}
