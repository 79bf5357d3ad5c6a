import ArgumentParser
import CloudKitServerCore

/// A command that copies the development schema to production.
struct SchemaDeployCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deploy",
        abstract: "Copy types, fields, indexes and roles from development to production.",
        discussion: "No data is copied, and production keeps its existing types and fields."
    )

    @Flag(help: "Print what would change, and change nothing.")
    var dryRun = false

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let service = try folder.open()
        let container = try await folder.containerName(service)
        let changes = try await service.deploySchema(container: container, isDryRun: dryRun)
        try SchemaChangeEntry.write(changes, output)
        let done = dryRun ? "would change" : "changed"
        Console.say("\(changes.count) \(done) in \(container), production")
    }
}
