import ArgumentParser
import CloudKitServerCore

/// A command that prints the credentials of a local server.
struct TokensListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the credentials in a server's data, without their secrets."
    )

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let service = try folder.open()
        let container = try await folder.containerName(service)
        let credentials = try await service.credentials(container: container)
        try output.write(
            credentials.map { .success(CredentialEntry($0)) },
            CredentialEntry.table
        )
    }
}
