import ArgumentParser
import CloudKitWebClient
import Foundation

/// Downloads the file of a record's field.
struct AssetsDownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download the file of a record's field."
    )

    /// What is printed for programs.
    private struct Downloaded: Encodable {
        let file: String
        let size: Int64?
    }

    @Argument(help: "The record's name.")
    var name: String

    @Argument(help: "The field.")
    var field: String

    @Option(name: .customLong("to"), help: "The file to write; it must not be there yet.")
    var file: String

    @Option(help: "Which file of a list, from 0.")
    var index = 0

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let target = URL(fileURLWithPath: file)
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw CommandFailure(unusable: "\(file) is there already; give another name")
        }
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
                "The field \(field) of the record \(name) has \(assets.count) files; "
                    + "--index \(index) is none of them"
            )
        }
        let line = ProgressLine("downloading \(DisplayText(target.lastPathComponent).text)")
        try await client.download(assets[index], to: target) { line.update($0) }
        if output.json {
            try output.write(Downloaded(file: file, size: assets[index].size))
        } else {
            let size = assets[index].size.map { " of \($0) bytes" } ?? ""
            try Console.write("Wrote the file\(size) to \(file)")
        }
    }
}
