import ArgumentParser
import CloudKitServerCore
import CloudKitWire

/// A command that prints and changes the roles of a local server's user.
struct UsersRolesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roles",
        abstract: "Print the roles of a user in a server's data, after changing them.",
        discussion: """
            The schema defines roles with CREATE ROLE, and says what each may do in the public \
            database; _world, _icloud and _creator need not be granted. A running server notices \
            within 5 seconds.
            """
    )

    @Argument(help: .user)
    var user: String

    @Option(name: .customLong("grant"), help: "A role that the user gets; repeatable.")
    var granted: [String] = []

    @Option(name: .customLong("revoke"), help: "A role that the user loses; repeatable.")
    var revoked: [String] = []

    @OptionGroup(title: "Data")
    var place: EnvironmentOptions

    @OptionGroup
    var output: OutputOptions

    /// A role, in the output of `--json`.
    private struct Role: Codable, Hashable {
        let role: String
        let environment: String
        let userRecordName: String
    }

    func run() async throws {
        let environment = try place.kind
        let service = try place.folder.open()
        let container = try await place.folder.containerName(service)
        let user = try await service.user(self.user, in: container)
        var roles = try await service.roles(of: user, environment: environment)
        if let stranger = revoked.first(where: { !roles.contains($0) }) {
            throw CommandFailure(
                "\(user.userRecordName) has no role \(stranger) in \(environment.rawValue), but "
                    + (roles.isEmpty ? "none" : roles.sorted().joined(separator: ", "))
            )
        }
        if !granted.isEmpty || !revoked.isEmpty {
            roles = roles.subtracting(revoked).union(granted)
            try await service.setRoles(roles, of: user, environment: environment)
        }
        try output.write(
            roles.sorted().map { role in
                .success(
                    Role(
                        role: role,
                        environment: environment.rawValue,
                        userRecordName: user.userRecordName
                    )
                )
            }
        ) { roles in
            var table = Table("role")
            for role in roles { table.add([role.role]) }
            return table
        }
    }
}
