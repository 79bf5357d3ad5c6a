import ArgumentParser

/// Creates and revokes credentials for a local server.
struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Create, list and revoke credentials in a server's data.",
        discussion: """
            The server may be running. It keeps hashes only, so what is printed when one is made cannot \
            be had again.
            """,
        subcommands: [
            TokensAPICommand.self, TokensWebAuthCommand.self, TokensServerKeyCommand.self,
            TokensListCommand.self, TokensRevokeCommand.self,
        ]
    )
}
