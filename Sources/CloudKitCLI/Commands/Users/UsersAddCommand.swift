import ArgumentParser
import CloudKitServerCore
import CloudKitWire

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
        guard name.contains(where: { !$0.isWhitespace }) else {
            throw ValidationError("The user's name is empty")
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
        // Checked before a password is typed.
        let service = try folder.open()
        let container = try await folder.containerName(service)
        let password = try passwordOptions.password()
        if let password { try CloudService.checkPassword(password) }
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
}
