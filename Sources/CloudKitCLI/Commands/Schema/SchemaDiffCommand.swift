import ArgumentParser
import CloudKitServerCore

/// A command that compares two schemas.
struct SchemaDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print the differences between two schemas; the status is 1 when they differ.",
        discussion: """
            A schema is a file, or the folder of a server, with its development environment unless \
            :production follows, as in ./cloud:production.
            """
    )

    @Argument(help: "The old schema.")
    var old: String

    @Argument(help: "The new schema.")
    var new: String

    @Option(help: "The container in a folder with several.")
    var container: String?

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let old = try await SchemaSource(old, container: container)
        let new = try await SchemaSource(new, container: container)
        let changes = try CloudService.schemaChanges(from: old.text, to: new.text)
        guard !changes.isEmpty else { return try SchemaChangeEntry.write(changes, output) }
        try CommandFailure.differ { try SchemaChangeEntry.write(changes, output) }
    }
}
