import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoint that hands out addresses for files: `assets/upload`.
struct UploadsEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `assets/upload`: returns the URLs to which files may be posted.
    func prepare(_ call: Call) async throws -> Data {
        let request = try call.message(UploadAssetsRequest.self)
        try call.checkCount(request.tokens.count, "tokens", limit: Limits.uploadTokensPerRequest)
        if call.path.database == .public { _ = try call.user() }
        let links = try await context.links(for: call)
        let names = request.tokens.map { $0.recordName ?? context.randomness.uuid() }
        let zone = try await context.read(call) { reader in
            let zone = try ZoneDirectory(call: call, reader: reader)
                .zone(request.zoneID ?? .defaultZone)
            let quota = StorageQuota(context.configuration, of: zone.database)
            if let room = try quota.room(reader), room <= 0 {
                throw RequestError(
                    .quotaExceeded,
                    reason: "The database has no room for assets; delete something or raise the "
                        + "quota"
                )
            }
            return zone
        }
        let tokens = try zip(request.tokens, names).map { token, name in
            let problem =
                NameRules.recordName(name) ?? NameRules.identifier(token.recordType, "recordType")
                ?? NameRules.identifier(token.fieldName, "fieldName")
            if let problem { throw RequestError(.badRequest, reason: problem) }
            // Clients that do not name a record ignore the name in the response, too.
            let place = AssetLinks.Place(
                database: zone.database.id.rawValue,
                zone: zone.zone.id.rawValue,
                recordName: token.recordName ?? AssetLinks.Place.anyName,
                fieldName: token.fieldName,
                recordType: token.recordName == nil ? token.recordType : nil
            )
            return UploadAssetsResponse.Token(
                recordName: name,
                fieldName: token.fieldName,
                url: links.uploadURL(place, id: context.randomness.identifier())
            )
        }
        return try WireJSON.encode(UploadAssetsResponse(tokens: tokens))
    }
}
