import CloudKitWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension CloudService {
    /// Receives the bytes posted to an upload URL, once.
    ///
    /// - Parameters:
    ///   - token: The token of `AssetRoute.upload`.
    ///   - body: The bytes, received piece by piece; at most the limit is kept in memory or on disk.
    ///   - length: The announced number of bytes, so that too many are refused before any are
    ///     received; `nil` if it is unknown.
    /// - Returns: The response, with the receipt to which a record's field is set.
    public func receiveAsset<Body: AsyncSequence & Sendable>(
        token: String,
        body: Body,
        length: Int? = nil
    ) async -> ServiceResponse where Body.Element == Data {
        await withTaskExecutorPreference(storage.threads) {
            await self.receive(token, body, length)
        }
    }

    @concurrent
    private func receive<Body: AsyncSequence & Sendable>(
        _ token: String,
        _ body: Body,
        _ length: Int?
    ) async -> ServiceResponse where Body.Element == Data {
        let faults = decideFaults(asset: "assets/send")
        var response: ServiceResponse
        do {
            if faults.isDropped { throw CancellationError() }
            if let error = faults.error { throw error }
            let links = try await links("", now: clock.milliseconds)
            response = ok(try WireJSON.encode(try await receive(token, body, length, links)))
        } catch let error as AssetTooLarge {
            response = failure(
                RequestError(
                    .badRequest,
                    reason: "The asset has more than the allowed \(error.limit) bytes",
                    nativeErrorCode: .limitExceeded
                )
            )
        } catch {
            response = failure(error)
        }
        response.delivery = faults.delivery
        response.faultRules = faults.rules
        return response
    }

    private func receive<Body: AsyncSequence & Sendable>(
        _ token: String,
        _ body: Body,
        _ length: Int?,
        _ links: AssetLinks
    ) async throws -> AssetUploadReceipt where Body.Element == Data {
        guard let upload = links.upload(uploadToken: token) else {
            throw RequestError(
                .accessDenied,
                reason: "The upload URL was not created by this service or is older than "
                    + "\(Limits.assetUploadSeconds / 60) minutes"
            )
        }
        guard uploads.begin(upload.id) else { throw Self.usedUpload }
        let place = upload.place
        defer { uploads.end(upload.id, place.database) }
        let room = try await room(for: upload)
        if let length, length > configuration.assetBytes {
            throw AssetTooLarge(limit: configuration.assetBytes)
        }
        if let room, let length, length > room { throw Self.noRoom }
        let pieces = body.map { [uploads] piece in
            let underway = uploads.add(piece.count, of: upload.id, to: place.database)
            if let room, underway > room { throw Self.noRoom }
            return piece
        }
        let asset = try await assets.store(pieces, limit: configuration.assetBytes)
        try await note(asset, of: upload)
        return AssetUploadReceipt(
            singleFile: WireAsset(
                fileChecksum: Data(asset.checksum).base64EncodedString(),
                size: asset.size,
                receipt: links.receipt(place, asset, upload: upload.id)
            )
        )
    }

    /// Returns the number of bytes that the database of an upload has room for; nil for no limit.
    ///
    /// - Throws: `RequestError` when the address was used, or the zone was deleted.
    private func room(for upload: AssetLinks.Upload) async throws -> Int64? {
        try await storage.read { [configuration] reader in
            let database = try Self.database(of: upload, reader)
            let directory = UploadDirectory(database: database.id)
            guard try !directory.isUsed(upload.id, reader) else { throw Self.usedUpload }
            return try StorageQuota(configuration, of: database).room(reader)
        }
    }

    /// Records that bytes arrived; from then on their address is used and the quota counts them.
    private func note(_ asset: StoredAsset, of upload: AssetLinks.Upload) async throws {
        let waiting = clock.milliseconds + UploadDirectory.waitSeconds * 1000
        let entry = UploadDirectory.Entry(
            bytes: asset.size,
            checksum: Data(asset.checksum),
            ends: max(waiting, upload.expires)
        )
        try await storage.write { [configuration] writer in
            let database = try Self.database(of: upload, writer)
            let directory = UploadDirectory(database: database.id)
            guard try !directory.isUsed(upload.id, writer) else { throw Self.usedUpload }
            let room = try StorageQuota(configuration, of: database).room(writer)
            if let room, asset.size > room { throw Self.noRoom }
            try directory.add(entry, id: upload.id, writer)
        }
    }

    private static func database(
        of upload: AssetLinks.Upload,
        _ reader: any StorageReader
    ) throws -> StoredDatabase {
        let id = RowID<StoredDatabase>(rawValue: upload.place.database)
        guard let zone = try reader.zone(RowID<StoredZone>(rawValue: upload.place.zone)),
            !zone.isDeleted, zone.database == id, let database = try reader.database(id)
        else {
            throw RequestError(.zoneNotFound, reason: "The zone of the upload was deleted")
        }
        return database
    }

    private static let usedUpload = RequestError(
        .accessDenied,
        reason: "The upload URL was used before; request another with assets/upload"
    )

    private static let noRoom = RequestError(
        .quotaExceeded,
        reason: "The database has no room for the asset; delete something or raise the quota"
    )

    /// Removes the bytes of uploads that no record took over in time.
    func cleanUploads(_ now: Int64) async throws {
        let databases = try await storage.read { reader in
            try reader.environments().flatMap { try reader.databases($0.id).map(\.id) }
                .filter { try UploadDirectory(database: $0).hasEnded(now: now, reader) }
        }
        for database in databases {
            let files = try await storage.write { writer in
                try UploadDirectory(database: database).clean(now: now, writer)
            }
            // Identical bytes of a later upload have a newer file.
            let oldest = now - UploadDirectory.waitSeconds * 1000 + 1
            for file in Set(files) {
                let isNeeded = try await storage.read { reader in
                    try reader.holdsAsset(file) || AssetHolds().holds(file, now: now, reader)
                }
                guard !isNeeded else { continue }
                try await assets.removeAsset(Array(file), olderThan: oldest)
            }
        }
    }
}
