import ArgumentParser
import CloudKitServerSQLite

/// A command that restores a server's data.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a server's data from a file of cloudkit backup.",
        discussion: """
            Users, passwords and tokens are restored unchanged. Change tokens expire, so clients \
            fetch everything again.
            """
    )

    @Argument(help: "The file that cloudkit backup wrote.")
    var file: String

    @Option(help: "The folder to restore to, which must be empty; created if necessary.")
    var data = "cloudkit-data"

    @OptionGroup
    var terminal: TerminalOptions

    func run() async throws {
        let damaged = try await Restore(of: file).run(into: data)
        try Console.write("Restored \(file) to \(data)")
        guard damaged.isEmpty else {
            throw CommandFailure(
                "These assets were damaged when the backup was made: "
                    + damaged.joined(separator: ", ")
            )
        }
    }
}
