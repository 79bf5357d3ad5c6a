import ArgumentParser
import CloudKitServerCore

/// Finds out whether a deployed schema has what the app needs.
struct SchemaCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find out whether a deployed schema has all that another one has.",
        discussion: """
            Meant for CI: run the tests against a server, then compare the schema that grew in its \
            development environment with the file of what production has. What only the file has \
            is no mistake: an older version of the app may need it. The status is 1 when \
            something has to be deployed first.
            """
    )

    @Argument(help: "What is needed: a file, or the folder of a server.")
    var needed = "cloudkit-data"

    @Option(name: .customLong("against"), help: "What is deployed: a file, or a folder.")
    var deployed: String

    @Option(help: "The container in a folder, where it has several.")
    var container: String?

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let needed = try await SchemaSource(needed, container: container)
        let deployed = try await SchemaSource(deployed, container: container)
        let missing = try CloudService.schemaChanges(from: deployed.text, to: needed.text)
            .filter { $0.kind != .removed }
        try SchemaChangeEntry.write(missing, output)
        guard missing.isEmpty else {
            throw CommandFailure("\(deployed.name) lacks what \(needed.name) has; deploy it first")
        }
    }
}
