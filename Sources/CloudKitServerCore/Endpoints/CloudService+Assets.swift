import CloudKitBasics
public import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Handles `assets/upload`: returns the URLs to which files may be posted.
    func prepareUploads(_ call: Call) async throws -> Data {
        let request = try call.message(UploadAssetsRequest.self)
        try checkCount(request.tokens.count, "tokens", limit: Limits.uploadTokensPerRequest)
        if call.path.database == .public { _ = try call.user() }
        let links = try await links(call.request.baseURL, now: call.now)
        let names = request.tokens.map { $0.recordName ?? randomness.uuid() }
        let zone = try await read(call) { [configuration] reader in
            let zone = try ZoneDirectory(call: call, reader: reader)
                .zone(request.zoneID ?? .defaultZone)
            let quota = StorageQuota(configuration, of: zone.database)
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
                url: links.uploadURL(place, id: randomness.identifier())
            )
        }
        return try WireJSON.encode(UploadAssetsResponse(tokens: tokens))
    }

    /// Opens the bytes behind a download URL.
    ///
    /// - Parameter token: The token of `AssetRoute.download`.
    /// - Returns: The bytes, which are read as they are requested.
    /// - Throws: `RequestError` with `NOT_FOUND` for a token that this service did not create or
    ///   that has expired, and for a missing file.
    @concurrent
    public func openAsset(token: String) async throws(RequestError) -> AssetContents {
        do {
            return try await asset(token: token)
        } catch {
            throw Self.requestError(for: error)
        }
    }

    /// Opens the bytes behind a download URL; its errors also contain the cause for operators,
    /// which `refusal` reads.
    @concurrent
    package func asset(token: String) async throws -> AssetContents {
        let faults = decideFaults(asset: "assets/fetch")
        if let error = faults.error { throw error }
        var contents = try await contents(token)
        contents.delivery = faults.delivery
        return contents
    }

    private func contents(_ token: String) async throws -> AssetContents {
        let links = try await links("", now: clock.milliseconds)
        do {
            if let archive = try await archive(token, links) { return archive }
            if let (checksum, size) = links.asset(downloadToken: token) {
                if var contents = try await assets.open(checksum) {
                    try check(contents.size, of: checksum, isThatOf: size)
                    contents.entityTag = "\"\(Hexadecimal.text(checksum))\""
                    return contents
                }
                let hash = Data(checksum)
                if try await storage.read({ try $0.holdsAsset(hash) }) {
                    throw MissingAsset(checksum: checksum)
                }
            }
        } catch let error as StorageError {
            throw UnreadableAsset(error: error)
        }
        throw RequestError(
            .notFound,
            reason: "The download URL was not created by this service, has expired, or leads to a "
                + "file that no record has any longer; fetch the record again for a new one"
        )
    }

    /// Refuses a file that was truncated or extended, before its length is sent.
    private func check(_ found: Int64, of checksum: [UInt8], isThatOf size: Int64?) throws {
        guard let size, found != size else { return }
        throw StorageError(
            .corrupt,
            "The file of the asset \(Hexadecimal.text(checksum)) has \(found) bytes instead of "
                + "\(size); bring it back from a backup, or upload it again"
        )
    }

    /// Returns the URLs and receipts for one request.
    func links(_ baseURL: String, now: Int64) async throws -> AssetLinks {
        AssetLinks(
            seal: try await seal(),
            baseURL: baseURL,
            now: now,
            downloadSeconds: configuration.downloadSeconds
        )
    }
}
