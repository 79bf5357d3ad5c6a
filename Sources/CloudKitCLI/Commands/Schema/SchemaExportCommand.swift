import ArgumentParser
import CloudKitServerCore

/// A command that prints the schema of an environment.
struct SchemaExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the schema of an environment in a server's data."
    )

    @Option(name: .customLong("output"), help: "A file to write instead.")
    var file: String?

    @OptionGroup
    var overwriting: OverwriteOptions

    @OptionGroup(title: "Data")
    var place: EnvironmentOptions

    func run() async throws {
        if let file { try overwriting.check(file) }
        let service = try place.folder.open()
        let text = try await service.exportSchema(
            container: try await place.folder.containerName(service),
            environment: try place.kind
        )
        try SchemaOutput.write(text, to: file)
    }
}
