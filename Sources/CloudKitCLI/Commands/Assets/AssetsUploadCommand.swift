import ArgumentParser
import CloudKitWebClient
import Foundation

/// A command that uploads a file and sets a record's field to it.
struct AssetsUploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Upload a file to a field of a record, which is created if necessary."
    )

    @OptionGroup
    var asset: AssetOptions

    @Option(help: "The record type.")
    var type: String

    @Option(help: "The record's name; the service creates one when it is omitted.")
    var name: String?

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let client = try place.database.connection.client()
        let database = place.database.scope(client)
        let upload = AssetUpload(client: client, database: database, zoneID: place.zoneID)
        let (recordName, uploaded) = try await upload(
            URL(fileURLWithPath: asset.file),
            recordName: name,
            recordType: type,
            field: asset.field
        )
        let record = WireRecord(
            recordName: recordName,
            recordType: type,
            fields: [asset.field: WireField(.asset(uploaded))]
        )
        let saved = try await client.modifyRecords(
            ModifyRecordsRequest(
                operations: [RecordOperation(.forceUpdate, record)],
                zoneID: place.zoneID,
                atomic: false
            ),
            in: database
        ).records
        try output.write(saved, RecordTable.details)
    }
}
