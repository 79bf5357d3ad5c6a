import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient
import CloudKitWire

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

/// A command that prints the caller's identity.
struct UsersCurrentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "current",
        abstract: "Print your identity in the service."
    )

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let caller = try await connection.client().caller()
        try output.write([.success(caller)], UserTable.list)
    }
}

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

/// A command that adds a user to a local server.
struct UsersAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a user to a server's data.",
        discussion: """
            Prompts for the password with which the user signs in on the server's page. The server \
            may be running.
            """
    )

    @Argument(help: "The user's name, such as 'Ada Lovelace'.")
    var name: String

    @Option(help: "The e-mail address by which others find the user.")
    var email: String?

    @OptionGroup(title: "Password")
    var passwordOptions: PasswordOptions

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func validate() throws {
        do {
            try CloudService.checkUserName(name)
        } catch {
            throw ValidationError(error.reason ?? name)
        }
        if let email {
            do {
                try CloudService.checkEmailAddress(email)
            } catch {
                throw ValidationError("--email: \(error.reason ?? email)")
            }
        }
    }

    func run() async throws {
        // An existing folder is checked before a password is typed; a new one is created after it.
        let isNew = try folder.createsFolder()
        var password = isNew ? try self.password() : nil
        let service = try await folder.openForWriting()
        let container = try await folder.containerName(service)
        if !isNew { password = try self.password() }
        let user = try await service.addUser(
            container: container,
            name: name,
            emailAddress: email,
            password: password
        )
        try output.write(
            [.success(UserEntry(user, hasPassword: password != nil))],
            UserTable.entries
        )
    }

    /// Returns the password; nil for none.
    private func password() throws -> String? {
        let password = try passwordOptions.password()
        if let password { try CloudService.checkPassword(password) }
        return password
    }
}

/// A command that sets the password of a local server's user.
struct UsersPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set, change or remove the password of a user in a server's data.",
        discussion: "Existing sessions continue; cloudkit users sign-out ends them."
    )

    @Argument(help: .user)
    var user: String

    @OptionGroup(title: "Password")
    var options: PasswordOptions

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let service = try await folder.openForWriting()
        let container = try await folder.containerName(service)
        let user = try await service.user(self.user, in: container)
        try await service.setPassword(try options.password(), of: user)
        guard !output.json else {
            return try output.write(UserEntry(user, hasPassword: !options.noPassword))
        }
        Console.say(
            options.noPassword
                ? "\(user.userRecordName) no longer has a password"
                : "\(user.userRecordName) signs in with the new password"
        )
    }
}

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
        let service = try await place.folder.openForWriting()
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

/// A command that ends the sessions of a local server's user.
struct UsersSignOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out",
        abstract: "End all sessions of a user in a server's data, and print them.",
        discussion: """
            The user's web auth tokens are refused; a person with the password can sign in again. A \
            running server notices within 5 seconds. To end one session, see cloudkit tokens revoke.
            """
    )

    @Argument(help: .user)
    var user: String

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let service = try await folder.openForWriting()
        let container = try await folder.containerName(service)
        let user = try await service.user(self.user, in: container)
        let ended = try await service.endSessions(of: user)
        try output.write(ended.map { .success(CredentialEntry($0)) }, CredentialEntry.table)
    }
}

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
        let service = try await folder.open()
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

/// A command that deletes a user of a local server.
struct UsersDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a user in a server's data, with the private database.",
        discussion: """
            All zones, records and assets of the user go, in both environments, and with them what \
            the user shared; so do the password, sessions, keys, roles and subscriptions. What the \
            user saved in the public database and in zones of others stays. A running server \
            writes nothing more for the user, and notices within 5 seconds when the user reads.
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
        let service = try await folder.openForWriting()
        let container = try await folder.containerName(service)
        let user = try await service.user(self.user, in: container)
        guard force else {
            throw CommandFailure(
                unusable:
                    "\(user.fullName) (\(user.userRecordName)) would be deleted with every record of theirs in "
                    + "\(container); make a backup, and give --force"
            )
        }
        try await service.deleteUser(user)
        if let path = try folder.folder {
            try AccessFiles(directory: path).removeFile(of: user, container)
        }
        guard !output.json else { return try output.write(UserEntry(user)) }
        Console.say("\(user.userRecordName) is deleted")
    }
}
