import ArgumentParser
import CloudKitServerCore

/// A command that prints the users of a local server.
struct UsersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the users in a server's data."
    )

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let service = try folder.open()
        let container = try await folder.containerName(service)
        let users = try await service.users(container: container)
        let known = try await service.usersWithPassword(container: container)
        try output.write(
            users.map {
                .success(UserEntry($0, hasPassword: known.contains($0.userRecordName)))
            },
            UserTable.entries
        )
    }
}
