import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoint of records by name: `records/lookup`.
struct LookUpRecordsEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `records/lookup`: returns records by name.
    func lookUp(_ call: Call) async throws -> Data {
        let request = try call.message(
            LookupRecordsRequest.self,
            common: LookupRecordsRequest.init(common:)
        )
        try call.checkCount(request.records.count, "records")
        for item in request.records { try call.work.check(name: item.recordName) }
        let links = try await context.links(for: call)
        let zoneID = request.zoneID ?? .defaultZone
        return try await context.read(call) { needs in
            guard let name = call.ownZoneName(zoneID) else { return }
            needs.zone(name) { $0.records = request.records.map(\.recordName) }
        } _: { reader in
            let zone = try ZoneDirectory(call: call, reader: reader).zone(zoneID)
            if zone.viewer != nil {
                try reader.prepare { _ in
                    .records(request.records.map(\.recordName), in: zone.zone.id)
                }
            }
            let sight = try zone.sight(call, context.schemas, reader)
            let records = RecordResponseWriter(
                zone: zone,
                namesZone: !zone.isDefault,
                numbersAsStrings: request.numbersAsStrings ?? false,
                namesTypeOfTombstones: false,
                links: links,
                work: call.work,
                caller: call.caller.user?.recordName
            )
            var writer = JSONWriter(capacity: 4096)
            writer.openObject()
            writer.key(RecordsResponse.CodingKeys.records)
            writer.openArray()
            for (place, item) in request.records.enumerated() {
                if let failure = call.failure(ofItem: place) {
                    writer.itemError(failure.item(item.recordName))
                    continue
                }
                guard let record = try reader.record(zone.zone.id, name: item.recordName),
                    !record.isDeleted, case let verdict = try sight.verdict(on: record, reader),
                    verdict != .hidden
                else {
                    writer.itemError(Self.notFound(item.recordName))
                    continue
                }
                guard verdict == .shown else {
                    let reason = "READ operation not permitted on '\(record.name)'"
                    writer.itemError(RecordFailure(.accessDenied, reason).item(record.name))
                    continue
                }
                try call.work.reserve(record)
                let keys = item.desiredKeys ?? request.desiredKeys
                try records.write(record, desiredKeys: keys, to: &writer)
            }
            writer.closeArray()
            RecordResponseWriter.writeSyncToken(of: [zone], call, links.seal, to: &writer)
            writer.closeObject()
            return writer.data
        }
    }

    private static func notFound(_ name: String) -> ItemError {
        ItemError(.notFound, reason: "Record not found: '\(name)'", recordName: name)
    }
}
