import ArgumentParser
import CloudKitServerCore

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
        let service = try folder.open()
        let container = try await folder.containerName(service)
        let user = try await service.user(self.user, in: container)
        let ended = try await service.endSessions(of: user)
        try output.write(ended.map { .success(CredentialEntry($0)) }, CredentialEntry.table)
    }
}
