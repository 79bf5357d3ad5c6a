import ArgumentParser

/// Says who users are, and makes them for a server of one's own.
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Say who users are, and add users to a server's data.",
        subcommands: [
            UsersCurrentCommand.self, UsersDiscoverCommand.self, UsersAddCommand.self,
            UsersPasswordCommand.self, UsersListCommand.self,
        ]
    )
}
