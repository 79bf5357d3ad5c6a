import CloudKitWebClient
import Foundation

/// The upload of files, so that records of one zone can refer to them.
struct AssetUpload {
    let client: WebClient
    let database: DatabaseScope
    let zoneID: WireZoneID

    /// Uploads one file for a field of a record, and shows the progress.
    ///
    /// - Returns: The record's name, which the service creates if none was given, and the field's
    ///   new value.
    func callAsFunction(
        _ file: URL,
        recordName: String?,
        recordType: String,
        field: String
    ) async throws -> (recordName: String, asset: WireAsset) {
        let upload = try UploadFile(file, for: client)
        let tokens = try await client.uploadTokens(
            for: [.init(recordName: recordName, recordType: recordType, fieldName: field)],
            zoneID: zoneID,
            in: database
        )
        let line = ProgressLine("uploading \(DisplayText(file.lastPathComponent).text)")
        // The upload may still be refused.
        let asset = try await upload.send(to: tokens[0]) { line.update(min($0, 0.99)) }
        line.update(1)
        return (tokens[0].recordName, asset)
    }
}
