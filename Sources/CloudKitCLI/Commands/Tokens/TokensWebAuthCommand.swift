import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient

/// A command that signs a user in.
struct TokensWebAuthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web-auth",
        abstract: "Create a web auth token, with which a client acts for a user."
    )

    @Option(help: .user)
    var user: String

    @Option(help: "The API token that the client uses with it; a new one by default.")
    var apiToken: String?

    @OptionGroup(title: "Data")
    var options: TokenOptions

    func run() async throws {
        typealias Name = ConnectionVariables.Name
        let service = try options.place.folder.open()
        let container = try await options.place.folder.containerName(service)
        let kind = try options.place.kind
        let user = try await service.user(self.user, in: container)
        let companion =
            if let apiToken {
                apiToken
            } else {
                try await service.addAPIToken(container: container, environment: kind)
            }
        let token = try await service.addWebAuthToken(
            user: user,
            apiToken: companion,
            environment: kind
        )
        try await options.write(
            [
                Name.url: options.url, Name.container: container, Name.environment: kind.rawValue,
                Name.apiToken: companion, Name.webAuthToken: token,
            ],
            new: apiToken == nil ? [companion, token] : [token],
            of: container,
            service
        )
    }
}
