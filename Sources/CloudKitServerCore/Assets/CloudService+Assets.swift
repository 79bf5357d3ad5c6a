public import CloudKitWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension CloudService {
    /// `assets/upload`: where files may be posted to.
    func prepareUploads(_ call: Call) async throws -> Data {
        let request = try call.message(UploadAssetsRequest.self)
        guard request.tokens.count <= Limits.uploadTokensPerRequest else {
            throw RequestError(
                .badRequest,
                reason: "The request has \(request.tokens.count) tokens; at most "
                    + "\(Limits.uploadTokensPerRequest) are allowed"
            )
        }
        if call.path.database == .public { _ = try call.user() }
        let links = try await links(call.request.baseURL, now: call.now)
        let names = request.tokens.map { $0.recordName ?? randomness.uuid() }
        let zone = try await storage.read { [configuration] reader in
            let zone = try ZoneDirectory(call: call, reader: reader)
                .zone(request.zoneID ?? .defaultZone)
            let quota = StorageQuota(configuration, of: zone.database)
            if let limit = try quota.limit(of: zone.zone, reader), zone.zone.bytes >= limit {
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
            let place = AssetLinks.Place(
                database: zone.database.id.rawValue,
                zone: zone.zone.id.rawValue,
                recordName: name,
                fieldName: token.fieldName
            )
            return UploadAssetsResponse.Token(
                recordName: name,
                fieldName: token.fieldName,
                url: links.uploadURL(place)
            )
        }
        return try WireJSON.encode(UploadAssetsResponse(tokens: tokens))
    }

    /// Takes the bytes posted to an upload URL.
    ///
    /// - Parameters:
    ///   - token: The token of `AssetRoute.upload`.
    ///   - body: The bytes, taken piece by piece; no more than the limit is kept anywhere.
    /// - Returns: The answer, with the receipt that a record's field is set to.
    @concurrent
    public func receiveAsset<Body: AsyncSequence & Sendable>(
        token: String,
        body: Body
    ) async -> ServiceResponse where Body.Element == Data {
        let faults = decideFaults(asset: "assets/send")
        var response = await receive(token, body, faults)
        response.delivery = faults.delivery
        response.faultRules = faults.rules
        return response
    }

    private func receive<Body: AsyncSequence & Sendable>(
        _ token: String,
        _ body: Body,
        _ faults: FaultDecision
    ) async -> ServiceResponse where Body.Element == Data {
        do {
            if faults.isDropped { throw CancellationError() }
            if let error = faults.error { throw error }
            let links = try await links("", now: clock.milliseconds)
            guard let place = links.place(uploadToken: token) else {
                throw RequestError(
                    .accessDenied,
                    reason: "The upload URL was not made by this service or is older than "
                        + "\(Limits.assetUploadSeconds / 60) minutes"
                )
            }
            let asset = try await assets.store(body, limit: configuration.assetBytes)
            let checksum = Data(asset.checksum).base64EncodedString()
            let receipt = AssetUploadReceipt(
                singleFile: WireAsset(
                    fileChecksum: checksum,
                    size: asset.size,
                    receipt: links.receipt(place, asset)
                )
            )
            return ok(try WireJSON.encode(receipt))
        } catch let error as AssetTooLarge {
            return failure(
                RequestError(
                    .badRequest,
                    reason: "The asset has more than the allowed \(error.limit) bytes",
                    nativeErrorCode: .limitExceeded
                )
            )
        } catch {
            return failure(error)
        }
    }

    /// Opens the bytes behind a download URL.
    ///
    /// - Parameter token: The token of `AssetRoute.download`.
    /// - Returns: The bytes, read as they are asked for.
    /// - Throws: `RequestError` with `NOT_FOUND` for a token that was not made here or is too old.
    @concurrent
    public func openAsset(token: String) async throws(RequestError) -> AssetContents {
        let faults = decideFaults(asset: "assets/fetch")
        if let error = faults.error { throw error }
        var contents = try await contents(token)
        contents.delivery = faults.delivery
        return contents
    }

    private func contents(_ token: String) async throws(RequestError) -> AssetContents {
        do {
            let links = try await links("", now: clock.milliseconds)
            if let archive = try await archive(token, links) { return archive }
            if let checksum = links.checksum(downloadToken: token),
                let contents = try await assets.open(checksum)
            {
                return contents
            }
        } catch {
            throw RequestError(.internalError, reason: "The server failed to read the asset")
        }
        throw RequestError(
            .notFound,
            reason: "The download URL was not made by this service or is too old; ask for a new "
                + "one where it came from"
        )
    }

    /// The URLs and receipts of one request.
    func links(_ baseURL: String, now: Int64) async throws -> AssetLinks {
        AssetLinks(
            seal: try await seal(),
            baseURL: baseURL,
            now: now,
            downloadSeconds: configuration.downloadSeconds
        )
    }
}
