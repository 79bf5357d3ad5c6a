import ArgumentParser
import CloudKitWebClient

/// Prints who the caller is.
struct UsersCurrentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "current",
        abstract: "Say who you are to the service."
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
