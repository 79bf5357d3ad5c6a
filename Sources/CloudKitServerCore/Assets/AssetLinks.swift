import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Creates and reads the URLs and receipts of assets; all are signed, none is stored.
struct AssetLinks {
    let seal: TokenSeal
    let baseURL: String
    /// The current time in milliseconds since 1970-01-01 UTC.
    let now: Int64
    let downloadSeconds: Int64
    let storage: any AssetStorage

    /// The destination of an upload.
    struct Place: Hashable {
        /// A placeholder for any record or field, which is no valid name.
        static let anyName = ""

        var database: Int64
        var zone: Int64
        var recordName: String
        var fieldName: String
        /// The type of the records that an unnamed place stands for; nil if the record is named.
        var recordType: String?

        /// `true` when the place is a field of any record of a type.
        var isOfType: Bool { recordName == Self.anyName && fieldName != Self.anyName }
    }

    /// The number of seconds for which a receipt that did not come from an upload can be used in a
    /// record.
    static let receiptSeconds: Int64 = 24 * 60 * 60

    /// An address to which bytes can be posted, once.
    struct Upload: Hashable {
        var place: Place
        /// A number that distinguishes the addresses of a place.
        var id: Int64
        /// The expiration time in milliseconds since 1970-01-01 UTC.
        var expires: Int64
    }

    /// Returns the URL to which the bytes for a place are posted.
    func uploadURL(_ place: Place, id: Int64) -> String {
        var writer = TokenWriter()
        writer.append(place)
        writer.append(id)
        writer.append(now + Int64(Limits.assetUploadSeconds) * 1000)
        let token = seal.sealForURL(writer.bytes, for: .upload)
        return baseURL + AssetRoute.upload(token: token).path
    }

    /// Returns the upload that an upload token was created for; nil if it is forged or has expired.
    func upload(uploadToken: String) -> Upload? {
        guard let contents = seal.openFromURL(uploadToken, for: .upload) else { return nil }
        var reader = TokenReader(contents)
        guard let place = reader.place(), let id = reader.number(),
            let expires = reader.number(), expires > now
        else { return nil }
        return Upload(place: place, id: id, expires: expires)
    }

    /// Returns a receipt, which proves that an asset was uploaded for a place or, without an
    /// upload, that a record has it.
    func receipt(_ place: Place, _ asset: StoredAsset, upload: Int64? = nil) -> String {
        let seconds = upload == nil ? Self.receiptSeconds : UploadDirectory.waitSeconds
        var writer = TokenWriter()
        writer.append(place)
        writer.append(asset.checksum)
        writer.append(asset.size)
        writer.append(now + seconds * 1000)
        if let upload { writer.append(upload) }
        return seal.seal(writer.bytes, for: .receipt)
    }

    /// Returns an asset with a receipt for a place.
    func adding(receiptFor place: Place, to asset: WireAsset) -> WireAsset {
        guard let checksum = asset.checksumData, let size = asset.size else { return asset }
        var asset = asset
        asset.receipt = receipt(place, StoredAsset(checksum: Array(checksum), size: size))
        return asset
    }

    /// Returns the asset and the place that a receipt was created for; nil if it is forged or has
    /// expired.
    func asset(receipt: String) -> (place: Place, asset: StoredAsset, upload: Int64?)? {
        guard let contents = seal.open(receipt, for: .receipt) else { return nil }
        var reader = TokenReader(contents)
        guard let place = reader.place(), let checksum = reader.data(),
            let size = reader.number(), let expires = reader.number(), expires > now
        else { return nil }
        return (place, StoredAsset(checksum: checksum, size: size), reader.number())
    }

    /// Returns a field with the download URLs of its assets.
    func adding(to field: WireField) -> WireField {
        var field = field
        switch field.value {
        case .asset(let asset): field.value = .asset(adding(to: asset))
        case .list(let values, of: .asset):
            field.value = .list(
                values.map { $0.asset.map { .asset(adding(to: $0)) } ?? $0 },
                of: .asset
            )
        default: break
        }
        return field
    }

    private func adding(to asset: WireAsset) -> WireAsset {
        guard let checksum = asset.fileChecksum.flatMap({ Data(base64Encoded: $0) }) else {
            return asset
        }
        var asset = asset
        if let url = storage.downloadURL(of: Array(checksum), seconds: downloadSeconds) {
            asset.downloadURL = url
            return asset
        }
        var writer = TokenWriter()
        writer.append(checksum)
        writer.append(now + downloadSeconds * 1000)
        if let size = asset.size { writer.append(size) }
        let token = seal.sealForURL(writer.bytes, for: .download)
        asset.downloadURL = baseURL + AssetRoute.download(token: token).path
        return asset
    }

    /// The archive that a link refers to.
    struct Archive: Hashable {
        var environment: Int64
        var user: Int64
        var id: String
    }

    /// Returns the download URL of an archive, with a name that is safe in a path.
    func archiveURL(_ archive: Archive, name: String, expires: Int64) -> String {
        var writer = TokenWriter()
        writer.append(archive.environment)
        writer.append(archive.user)
        writer.append(archive.id)
        writer.append(expires)
        let token = seal.sealForURL(writer.bytes, for: .archive)
        return baseURL + AssetRoute.download(token: token).path + "/\(name).zip"
    }

    /// Returns the archive that a download token was created for; nil if it is forged or has expired.
    func archive(downloadToken: String) -> Archive? {
        guard let contents = seal.openFromURL(downloadToken, for: .archive) else { return nil }
        var reader = TokenReader(contents)
        guard let environment = reader.number(), let user = reader.number(),
            let id = reader.text(), let expires = reader.number(), expires > now
        else { return nil }
        return Archive(environment: environment, user: user, id: id)
    }

    /// Returns the asset that a download token was created for; nil if it is forged or has expired.
    func asset(downloadToken: String) -> (checksum: [UInt8], size: Int64?)? {
        guard let contents = seal.openFromURL(downloadToken, for: .download) else { return nil }
        var reader = TokenReader(contents)
        guard let checksum = reader.data(), let expires = reader.number(), expires > now else {
            return nil
        }
        // Tokens of older versions have no size.
        return (checksum, reader.number())
    }
}

extension TokenWriter {
    fileprivate mutating func append(_ place: AssetLinks.Place) {
        append(place.database)
        append(place.zone)
        append(place.recordName)
        append(place.fieldName)
        if place.isOfType { append(place.recordType ?? "") }
    }
}

extension TokenReader {
    fileprivate mutating func place() -> AssetLinks.Place? {
        guard let database = number(), let zone = number(), let recordName = text(),
            let fieldName = text()
        else { return nil }
        var place = AssetLinks.Place(
            database: database,
            zone: zone,
            recordName: recordName,
            fieldName: fieldName
        )
        if place.isOfType {
            guard let recordType = text() else { return nil }
            place.recordType = recordType
        }
        return place
    }
}
