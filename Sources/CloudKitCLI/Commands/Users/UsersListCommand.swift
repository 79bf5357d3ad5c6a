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
        let users = try await service.users(container: try await folder.containerName(service))
        try output.write(users.map { .success(UserEntry($0)) }, UserTable.entries)
    }
}
