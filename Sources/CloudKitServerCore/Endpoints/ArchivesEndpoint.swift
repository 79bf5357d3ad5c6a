import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The purpose and the keys of the endpoint are known from CloudKit JS only; the rest is our
// interpretation, listed in docs/internals/unknown-facts.md.

/// The endpoint of archives: `records/zip/prepare`.
struct ArchivesEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `records/zip/prepare`: returns a link to an archive of records' files.
    ///
    /// The archive has the records' current files, even if the records change before it is downloaded.
    func prepare(_ call: Call) async throws -> Data {
        let request = try call.message(PrepareArchiveRequest.self)
        try call.checkIsNotPublic()
        let user = try call.user()
        let selection = try RecordSelection(
            include: request.includeRecords,
            exclude: request.excludeRecords,
            share: request.shareName
        )
        let id = context.randomness.uuid().lowercased()
        let links = try await context.links(for: call)
        let expires = call.now + context.configuration.downloadSeconds * 1000
        let scope = call.scope(of: request.zoneID ?? .defaultZone)
        let zone = try await context.write(call, scope) { writer in
            let zone = try ZoneDirectory(call: call, reader: writer)
                .zone(request.zoneID ?? .defaultZone)
            var manifest = ArchiveManifest(of: zone, desiredKeys: request.desiredKeys)
            let sight = zone.sight(call, schema: nil)
            try selection.forEach(in: zone, sight, writer) { try manifest.add($0) }
            let plan = try manifest.plan(expires: expires)
            // Records may lose the files before they are downloaded.
            try AssetHolds().hold(plan.entries.compactMap(\.checksum), until: expires, writer)
            try ArchiveDirectory(environment: call.environment.id, user: user.id)
                .add(plan, id: id, writer)
            return zone
        }
        let place = AssetLinks.Archive(
            environment: call.environment.id.rawValue,
            user: user.id.rawValue,
            id: id
        )
        let name = ArchivePaths.archive(request.archiveName ?? zone.id.zoneName)
        let url = links.archiveURL(place, name: name, expires: expires)
        return try WireJSON.encode(["downloadURL": url])
    }
}

/// The body of `records/zip/prepare`.
private struct PrepareArchiveRequest: Decodable {
    /// A key that has no meaning to a service without plug-ins, but must be present.
    struct PluginFields: Decodable {}

    let zoneID: WireZoneID?
    let desiredKeys: [String]?
    let pluginFields: PluginFields
    let includeRecords: [RecordSelection.Name]?
    let excludeRecords: [RecordSelection.Name]?
    let shareName: String?
    let archiveName: String?
}
