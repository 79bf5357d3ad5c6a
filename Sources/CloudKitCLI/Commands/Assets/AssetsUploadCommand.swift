import ArgumentParser
import CloudKitWebClient
import Foundation

/// Uploads a file and sets a record's field to it.
struct AssetsUploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Upload a file into a field of a record, which is made where it is new."
    )

    @Argument(help: "The file.")
    var file: String

    @Option(help: "The record type.")
    var type: String

    @Option(help: "The record's name; the service makes one when it is left out.")
    var name: String?

    @Option(help: "The field.")
    var field: String

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let client = try place.database.connection.client()
        let database = place.database.scope(client)
        let upload = AssetUpload(client: client, database: database, zoneID: place.zoneID)
        let (recordName, asset) = try await upload(
            URL(fileURLWithPath: file),
            recordName: name,
            recordType: type,
            field: field
        )
        let record = WireRecord(
            recordName: recordName,
            recordType: type,
            fields: [field: WireField(.asset(asset))]
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
