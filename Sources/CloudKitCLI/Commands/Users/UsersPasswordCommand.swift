import ArgumentParser
import CloudKitServerCore

/// Gives a user of one's own server a password.
struct UsersPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Give a user in a server's data a password, another one, or none.",
        discussion: "Sessions that have begun go on; cloudkit users sign-out ends them."
    )

    @Argument(help: "The user: record name, e-mail address, or full name where one user has it.")
    var user: String

    @OptionGroup(title: "Password")
    var options: PasswordOptions

    @OptionGroup(title: "Data")
    var folder: DataOptions

    func run() async throws {
        let service = try folder.open()
        let container = try await folder.containerName(service)
        let user = try await service.user(self.user, in: container)
        try await service.setPassword(try options.password(), of: user)
        Console.say(
            options.noPassword
                ? "\(user.userRecordName) has no password any more"
                : "\(user.userRecordName) signs in with the new password"
        )
    }
}
