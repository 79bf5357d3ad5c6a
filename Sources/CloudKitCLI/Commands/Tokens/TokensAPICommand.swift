import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient

/// A command that creates an API token.
struct TokensAPICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api",
        abstract: "Create an API token, which names a container and an environment."
    )

    @OptionGroup(title: "Data")
    var options: TokenOptions

    func run() async throws {
        typealias Name = ConnectionVariables.Name
        let service = try options.place.folder.open()
        let container = try await options.place.folder.containerName(service)
        let kind = try options.place.kind
        let token = try await service.addAPIToken(container: container, environment: kind)
        try await options.write(
            [
                Name.url: options.url, Name.container: container, Name.environment: kind.rawValue,
                Name.apiToken: token,
            ],
            new: [token],
            of: container,
            service
        )
    }
}
