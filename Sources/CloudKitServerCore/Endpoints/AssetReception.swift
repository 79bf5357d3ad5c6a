import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The receiver of the bytes that are posted to upload URLs.
///
/// An upload does not resume: one that was cut starts again, at the same URL.
struct AssetReception: Sendable {
    let context: ServiceContext
    private let uploads = UploadLedger()

    init(context: ServiceContext) { self.context = context }

    /// Receives bytes, and returns the response with their receipt.
    func receive<Body: AsyncSequence & Sendable>(
        token: String,
        body: Body,
        length: Int?
    ) async -> ServiceResponse where Body.Element == Data {
        await withTaskExecutorPreference(context.storage.threads) {
            await self.receive(token, body, length)
        }
    }

    @concurrent
    private func receive<Body: AsyncSequence & Sendable>(
        _ token: String,
        _ body: Body,
        _ length: Int?
    ) async -> ServiceResponse where Body.Element == Data {
        var faults = context.decideFaults(asset: "assets/send")
        var response: ServiceResponse
        do {
            if faults.isDropped { throw CancellationError() }
            if let error = faults.error { throw error }
            let links = try await context.links("", now: context.clock.milliseconds)
            response = context.responses.ok(
                try WireJSON.encode(try await receive(token, body, length, links))
            )
        } catch let error as AssetTooLarge {
            response = context.responses.failure(
                RequestError(
                    .badRequest,
                    reason: "The asset has more than the allowed \(error.limit) bytes",
                    nativeErrorCode: .limitExceeded
                )
            )
        } catch {
            response = context.responses.failure(error)
        }
        context.faults.settle(&faults, FaultOutcome(bytes: response.body.count))
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
        let (room, database) = try await room(for: upload)
        if let length, length > context.configuration.assetBytes {
            throw AssetTooLarge(limit: context.configuration.assetBytes)
        }
        if let room, let length, length > room { throw Self.noRoom }
        let pieces = body.map { [uploads] piece in
            let underway = uploads.add(piece.count, of: upload.id, to: place.database)
            if let room, underway > room { throw Self.noRoom }
            return piece
        }
        let asset = try await context.assets.store(pieces, limit: context.configuration.assetBytes)
        try await note(asset, of: upload, in: database)
        return AssetUploadReceipt(
            singleFile: WireAsset(
                fileChecksum: Data(asset.checksum).base64EncodedString(),
                size: asset.size,
                receipt: links.receipt(place, asset, upload: upload.id)
            )
        )
    }

    /// Returns the number of bytes that the database of an upload has room for, nil for no limit, and the
    /// database.
    ///
    /// - Throws: `RequestError` when the address was used, or the zone was deleted.
    private func room(
        for upload: AssetLinks.Upload
    ) async throws -> (Int64?, DatabaseKey) {
        try await context.storage.read { reader in
            let database = try Self.database(of: upload, reader)
            let directory = UploadDirectory(database: database.id)
            guard try !directory.isUsed(upload.id, reader) else { throw Self.usedUpload }
            return (
                try StorageQuota(context.configuration, of: database).room(reader),
                DatabaseKey(environment: database.environment, owner: database.owner)
            )
        }
    }

    /// Records that bytes arrived; from then on their address is used and the quota counts them.
    private func note(
        _ asset: StoredAsset,
        of upload: AssetLinks.Upload,
        in key: DatabaseKey
    ) async throws {
        let waiting = context.clock.milliseconds + UploadDirectory.waitSeconds * 1000
        let entry = UploadDirectory.Entry(
            bytes: asset.size,
            checksum: Data(asset.checksum),
            ends: max(waiting, upload.expires)
        )
        try await context.storage.write(.database(key), needing: { StorageNeeds(in: key) }) {
            writer in
            let database = try Self.database(of: upload, writer)
            let directory = UploadDirectory(database: database.id)
            guard try !directory.isUsed(upload.id, writer) else { throw Self.usedUpload }
            let room = try StorageQuota(context.configuration, of: database).room(writer)
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
}
