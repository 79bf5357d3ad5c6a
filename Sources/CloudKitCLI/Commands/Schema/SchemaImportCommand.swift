import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient

/// A command that replaces the schema of an environment by a file.
struct SchemaImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Replace the schema of an environment in a server's data by a file.",
        discussion: """
            Types and fields that are not in the file are removed if no data is lost. The server may \
            be running.
            """
    )

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @Flag(help: "Print what would change, and change nothing.")
    var dryRun = false

    @OptionGroup(title: "Data")
    var place: EnvironmentOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let schema = try SchemaFile(path: file)
        try await schema.parsed { try CloudService.validateSchema($0) }
        let service = try place.folder.open(isDryRun: dryRun)
        // A dry run creates neither folder nor container, and prints the schema of a new container.
        let container = try await place.folder.containerName(service)
        let kind = try place.kind
        let changes = try await service.importSchema(
            schema.text,
            container: container,
            environment: kind,
            isDryRun: dryRun
        )
        try SchemaChangeEntry.write(changes, output)
        let done = dryRun ? "would change" : "changed"
        Console.say("\(changes.count) \(done) in \(container), \(kind.rawValue)")
    }
}
