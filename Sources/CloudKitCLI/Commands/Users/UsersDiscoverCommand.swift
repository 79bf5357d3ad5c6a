import ArgumentParser
import CloudKitWebClient

/// A command that finds users of the container.
struct UsersDiscoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Find users by e-mail address or user record name."
    )

    @Argument(help: "E-mail addresses and user record names.")
    var names: [String]

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let request = DiscoverUsersRequest(
            lookupInfos: names.map { name in
                name.contains("@")
                    ? .init(emailAddress: name) : .init(userRecordName: name)
            }
        )
        let users = try await connection.client().discoverUsers(request).users
        try output.write(users.map { .success($0) }, UserTable.list)
        let missing = names.count - users.count
        guard missing <= 0 else {
            throw CommandFailure("\(missing) of \(names.count) were not found")
        }
    }
}
