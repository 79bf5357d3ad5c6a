import ArgumentParser
import CloudKitServerSQLite
import Foundation

/// A command that backs a server's data up.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write all data of a server to one file, even while the server runs.",
        discussion: """
            The file is a tar archive with the database at a single moment and the files of assets. \
            It is verified before it gets its name.
            """
    )

    @Argument(help: "The file to write.")
    var file: String

    @OptionGroup
    var overwriting: OverwriteOptions

    @Option(help: "The server's folder.")
    var data = "cloudkit-data"

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        try overwriting.check(file)
        try DataFolder(path: data, container: nil).check()
        let report = try await Backup(of: data).write(
            to: file,
            seconds: Int64(Date.now.timeIntervalSince1970)
        )
        if output.json {
            try output.write(report)
        } else {
            try Console.write(
                "Backed up the database and \(Amount.text(report.assets, "asset")) to \(file), "
                    + Amount.text(Int(report.bytes), "byte")
            )
        }
        guard report.damaged.isEmpty else {
            throw CommandFailure(
                "These assets were already missing or damaged: "
                    + report.damaged.joined(separator: ", ")
                    + "; cloudkit check reports details"
            )
        }
    }
}
