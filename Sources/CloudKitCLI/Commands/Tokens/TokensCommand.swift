import ArgumentParser

/// Makes credentials for a server of one's own, and revokes them.
struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Make credentials in a server's data, list and revoke them.",
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
