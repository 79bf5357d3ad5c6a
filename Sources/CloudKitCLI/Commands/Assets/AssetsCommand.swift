import ArgumentParser

/// A command that moves files to and from records.
struct AssetsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assets",
        abstract: "Upload and download the files of records.",
        subcommands: [AssetsUploadCommand.self, AssetsDownloadCommand.self]
    )
}
