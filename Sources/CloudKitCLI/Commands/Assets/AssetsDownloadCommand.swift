import ArgumentParser
import CloudKitWebClient
import Foundation

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
        let client = try place.database.connection.client()
        let results = try await client.lookup(
            [name],
            zoneID: place.zoneID,
            desiredKeys: [field],
            in: place.database.scope(client)
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
