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
    var output: OutputOptions

    /// The outcome, in the output of `--json`.
    private struct Report: Encodable {
        var data: String
        var damaged: [String]
    }

    func run() async throws {
        let (data, file) = (data, file)
        let damaged = try await Interruptible.run { try await Restore(of: file).run(into: data) }
        if output.json {
            try output.write(Report(data: data, damaged: damaged))
        } else {
            try Console.write("Restored \(file) to \(data)")
        }
        if let problem = Self.problem(damaged, file) { throw CommandFailure(problem) }
    }

    /// Returns which assets of a backup are missing or damaged; nil if none is.
    static func problem(_ damaged: [String], _ file: String) -> String? {
        guard !damaged.isEmpty else { return nil }
        return "These assets are missing in \(file), or do not match their checksums: "
            + damaged.joined(separator: ", ")
            + "; they were damaged before the backup, or the file was damaged later: try another one"
    }
}
