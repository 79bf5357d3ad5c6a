import ArgumentParser

/// Says who users are, and looks after those of a server of one's own.
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Say who users are, and look after the users in a server's data.",
        subcommands: [
            UsersCurrentCommand.self, UsersDiscoverCommand.self, UsersAddCommand.self,
            UsersPasswordCommand.self, UsersSignOutCommand.self, UsersListCommand.self,
        ]
    )
}
