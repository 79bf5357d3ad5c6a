import ArgumentParser
import CloudKitServerCore

/// A command that deletes a user of a local server.
struct UsersDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a user in a server's data, with the private database.",
        discussion: """
            All zones, records and assets of the user go, in both environments, and with them what \
            the user shared; so do the password, sessions, keys, roles and subscriptions. What the \
            user saved in the public database and in zones of others stays. A running server \
            notices within 5 seconds.
            """
    )

    @Argument(help: .user)
    var user: String

    @Flag(help: "Delete the user; a backup alone brings anything back.")
    var force = false

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let service = try folder.open()
        let container = try await folder.containerName(service)
        let user = try await service.user(self.user, in: container)
        guard force else {
            throw CommandFailure(
                unusable: "\(user.userRecordName) would be deleted with every record of theirs in "
                    + "\(container); make a backup, and give --force"
            )
        }
        try await service.deleteUser(user)
        guard !output.json else { return try output.write(UserEntry(user)) }
        Console.say("\(user.userRecordName) is deleted")
    }
}
