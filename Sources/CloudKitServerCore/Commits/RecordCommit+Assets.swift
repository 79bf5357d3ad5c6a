import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordCommit {
    /// Returns a field to store: with its receipts checked and removed.
    mutating func redeem(
        _ field: WireField,
        _ key: String,
        of type: String,
        _ name: String,
        _ before: WireField?
    ) throws -> WireField {
        var field = field
        switch field.value {
        case .asset(let asset):
            field.value = .asset(try redeem(asset, key, type, name, before))
        case .list(let values, of: .asset):
            var redeemed: [WireValue] = []
            for value in values {
                let asset = try value.asset.map { try redeem($0, key, type, name, before) }
                redeemed.append(asset.map { .asset($0) } ?? value)
            }
            field.value = .list(redeemed, of: .asset)
        default: break
        }
        return field
    }

    private mutating func redeem(
        _ asset: WireAsset,
        _ key: String,
        _ type: String,
        _ name: String,
        _ before: WireField?
    ) throws -> WireAsset {
        guard let receipt = asset.receipt else {
            // An asset that the record has already needs no receipt.
            if let kept = before?.asset(asset.fileChecksum) { return kept }
            throw RecordFailure(
                .badRequest,
                "The asset in field '\(key)' of '\(name)' has no receipt; upload its bytes first"
            )
        }
        guard let issued = links.asset(receipt: receipt) else {
            throw RecordFailure(
                .badRequest,
                "The receipt of the asset in field '\(key)' of '\(name)' was never issued or is "
                    + "too old"
            )
        }
        guard places(of: key, type, name).contains(issued.place) else {
            let owner = issued.place.recordType.map { "records of the type \($0)" }
            throw RecordFailure(
                .badRequest,
                "The receipt of the asset in field '\(key)' of '\(name)' was issued for field "
                    + "'\(issued.place.fieldName)' of \(owner ?? "'\(issued.place.recordName)'")"
            )
        }
        // One upload may fill several fields, and counts once.
        if let upload = issued.upload, !redeemed.contains(upload) {
            redeemed.append(upload)
            released += try UploadDirectory(database: zone.database.id).waiting(upload, writer)
        }
        return WireAsset(
            fileChecksum: Data(issued.asset.checksum).base64EncodedString(),
            size: issued.asset.size
        )
    }

    /// Returns the places for which a record's field accepts receipts: this field, the field of any
    /// record of the type, and any place.
    private func places(of key: String, _ type: String, _ name: String) -> [AssetLinks.Place] {
        let exact = AssetLinks.Place(
            database: zone.database.id.rawValue,
            zone: zone.zone.id.rawValue,
            recordName: name,
            fieldName: key
        )
        var ofType = exact
        ofType.recordName = AssetLinks.Place.anyName
        ofType.recordType = type
        var any = exact
        any.recordName = AssetLinks.Place.anyName
        any.fieldName = AssetLinks.Place.anyName
        return [exact, ofType, any]
    }
}

extension WireField {
    /// Returns the asset with a checksum among the field's values.
    fileprivate func asset(_ checksum: String?) -> WireAsset? {
        guard let checksum else { return nil }
        switch value {
        case .asset(let asset): return asset.fileChecksum == checksum ? asset : nil
        case .list(let values, of: .asset):
            return values.compactMap(\.asset).first { $0.fileChecksum == checksum }
        default: return nil
        }
    }
}

extension WireAsset {
    /// The bytes of the checksum.
    var checksumData: Data? { fileChecksum.flatMap { Data(base64Encoded: $0) } }
}
