import ArgumentParser
import CloudKitServerCore

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
        let service = try folder.open()
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
