import ArgumentParser

/// Makes credentials for a server of one's own.
struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Make credentials in a server's data, and print them for a shell.",
        discussion: """
            The server may be running. It keeps hashes only, so what is printed cannot be had \
            again.
            """,
        subcommands: [
            TokensAPICommand.self, TokensWebAuthCommand.self, TokensServerKeyCommand.self,
        ]
    )
}
