import ArgumentParser

/// A command that creates and revokes credentials for a local server.
struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Create, list and revoke credentials in a server's data.",
        discussion: """
            The server may be running. It stores only hashes, so a new credential is printed once \
            and cannot be shown again.
            """,
        subcommands: [
            TokensAPICommand.self, TokensWebAuthCommand.self, TokensServerKeyCommand.self,
            TokensListCommand.self, TokensRevokeCommand.self,
        ]
    )
}
