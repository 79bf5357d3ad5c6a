import ArgumentParser

/// A command that identifies users, and manages those of a local server.
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Identify users, and manage the users in a server's data.",
        subcommands: [
            UsersCurrentCommand.self, UsersDiscoverCommand.self, UsersAddCommand.self,
            UsersPasswordCommand.self, UsersRolesCommand.self, UsersSignOutCommand.self,
            UsersListCommand.self, UsersDeleteCommand.self,
        ]
    )
}
