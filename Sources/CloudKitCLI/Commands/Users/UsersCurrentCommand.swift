import ArgumentParser
import CloudKitWebClient

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
