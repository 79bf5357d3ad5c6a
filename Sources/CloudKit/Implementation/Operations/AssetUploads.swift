import CloudKitFiles
import CloudKitWebClient
import CloudKitWire
import Foundation

/// The receipts of uploaded files, by record, field and asset.
struct AssetUploads: Sendable {
    private struct Slot: Hashable {
        let recordID: CKRecord.ID
        let key: CKRecord.FieldKey
        let asset: ObjectIdentifier

        init(_ recordID: CKRecord.ID, _ key: CKRecord.FieldKey, _ asset: CKAsset) {
            self.recordID = recordID
            self.key = key
            self.asset = ObjectIdentifier(asset)
        }
    }

    /// A file to upload.
    private struct File {
        let record: CKRecord
        let key: CKRecord.FieldKey
        let asset: CKAsset
        let url: URL
        let stamp: FileStamp
    }

    private var receipts: [Slot: WireAsset] = [:]

    /// The errors of files that could not be uploaded, by record: the record cannot be saved.
    private(set) var failures: [CKRecord.ID: CKError] = [:]

    /// Uploads the files of the changed assets of one zone's records; `progress` receives the sent
    /// part of each record's files, from 0 to 1.
    ///
    /// - Throws: An error when the service issues no upload tokens.
    init(
        of records: [CKRecord],
        zoneID: CKRecordZone.ID,
        context: DatabaseRequests.Context,
        progress: @escaping @Sendable (CKRecord, Double) -> Void
    ) async throws(CKError) {
        var files: [File] = []
        for record in records {
            for (key, asset) in record.changedAssets {
                // Reading from a pipe could take forever.
                guard let url = asset.fileURL, let stamp = FileStamp(of: url), stamp.isFile else {
                    failures[record.recordID] = Self.missing(asset, key, record)
                    continue
                }
                files.append(
                    File(record: record, key: key, asset: asset, url: url, stamp: stamp)
                )
            }
        }
        files.removeAll { failures[$0.record.recordID] != nil }
        guard !files.isEmpty else { return }
        let wanted = files.map {
            UploadAssetsRequest.Token(
                recordName: $0.record.recordID.recordName,
                recordType: $0.record.recordType,
                fieldName: $0.key
            )
        }
        let tokens = try await native { () throws(WebClientError) in
            try await context.client.uploadTokens(
                for: wanted,
                zoneID: context.owners.wire(zoneID),
                in: context.database
            )
        }
        for (file, token) in zip(files, tokens) {
            let record = file.record
            do {
                receipts[Slot(record.recordID, file.key, file.asset)] = try await native {
                    () throws(WebClientError) in
                    try await context.client.upload(file.url, to: token) { progress(record, $0) }
                }
                if let stamp = FileStamp(of: file.url), stamp != file.stamp {
                    failures[record.recordID] = Self.modified(file)
                }
            } catch {
                failures[record.recordID] = error
            }
        }
    }

    /// Returns the receipt of an asset's upload.
    func receipt(
        of asset: CKAsset,
        in record: CKRecord,
        field key: CKRecord.FieldKey
    ) throws(UnsendableValue) -> WireAsset {
        guard let receipt = receipts[Slot(record.recordID, key, asset)] else {
            throw UnsendableValue(reason: "the asset was not uploaded")
        }
        return receipt
    }

    private static func modified(_ file: File) -> CKError {
        CKError(
            .assetFileModified,
            message: "Record \(file.record.recordID.recordName) of type "
                + "\(file.record.recordType), field \(file.key): the asset's file "
                + "\(file.url.path) changed while it was uploaded; save the record again"
        )
    }

    private static func missing(
        _ asset: CKAsset,
        _ key: CKRecord.FieldKey,
        _ record: CKRecord
    ) -> CKError {
        let isThere = asset.fileURL.flatMap { FileStamp(of: $0) } != nil
        let problem =
            isThere ? "is a folder, a pipe, a socket or a device, not a file" : "does not exist"
        return CKError(
            isThere ? .assetNotAvailable : .assetFileNotFound,
            message: "Record \(record.recordID.recordName) of type \(record.recordType), field "
                + "\(key): the asset's file \(asset.fileURL?.path ?? "") \(problem)"
        )
    }
}
