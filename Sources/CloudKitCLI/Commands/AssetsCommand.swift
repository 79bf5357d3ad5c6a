import ArgumentParser
import CloudKitWebClient
import Foundation

/// A command that moves files to and from records.
struct AssetsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assets",
        abstract: "Upload and download the files of records.",
        subcommands: [AssetsUploadCommand.self, AssetsDownloadCommand.self]
    )
}

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
        let client = try place.connection.client()
        let database = place.scope(client)
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

/// A command that downloads the file of a record's field.
struct AssetsDownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download the file of a record's field."
    )

    /// The output for programs.
    private struct Downloaded: Encodable {
        let file: String
        let size: Int64?
    }

    @OptionGroup
    var asset: AssetOptions

    @Option(help: "The record's name.")
    var name: String

    @Option(help: "The position of the file in a list, from 0.")
    var index = 0

    @OptionGroup
    var overwriting: OverwriteOptions

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let (file, field) = (asset.file, asset.field)
        try overwriting.check(file)
        let target = URL(fileURLWithPath: file)
        let client = try place.connection.client()
        let results = try await client.lookup(
            [name],
            zoneID: place.zoneID,
            desiredKeys: [field],
            in: place.scope(client)
        )
        if let failure = results.first?.failure {
            throw CommandFailure(OutputOptions.text(failure))
        }
        let assets = try results.first?.get().assets(of: field) ?? []
        guard assets.indices.contains(index) else {
            throw CommandFailure(
                "The field \(field) of the record \(name) has \(Amount.text(assets.count, "file")); "
                    + "--index \(index) is none of them"
            )
        }
        let line = ProgressLine("downloading \(DisplayText(target.lastPathComponent).text)")
        // If a file stays, the download refuses to replace it.
        if overwriting.force { try? FileManager.default.removeItem(at: target) }
        try await client.download(assets[index], to: target) { line.update($0) }
        if output.json {
            try output.write(Downloaded(file: file, size: assets[index].size))
        } else {
            let size = assets[index].size.map { " of " + Amount.text(Int($0), "byte") } ?? ""
            try Console.write("Wrote the file\(size) to \(file)")
        }
    }
}

/// The record, field and file of an asset command.
struct AssetOptions: ParsableArguments {
    @Argument(help: "The file on this machine.")
    var file: String

    @Option(help: "The field.")
    var field: String
}
