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
            The database and the archive are verified before the archive gets its name: --force \
            replaces a good backup only by another good one.
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
        let folder = DataFolder(path: data)
        try folder.check()
        let assets = try folder.assets()
        let (data, file, force) = (data, file, overwriting.force)
        let report = try await Interruptible.run {
            try await Backup(of: data, assets: assets).write(
                to: file,
                replaces: force,
                seconds: Int64(Date.now.timeIntervalSince1970)
            )
        }
        if output.json {
            try output.write(report)
        } else if report.isKept {
            try Console.write(
                "Backed up the database and \(Amount.text(report.assets, "asset")) to \(file), "
                    + Amount.text(Int(report.bytes), "byte")
            )
        }
        if !output.json { for text in report.problems { Console.say(DisplayText(text).text) } }
        if let problem = Self.problem(report, file) { throw CommandFailure(problem) }
    }

    /// Returns what is damaged in a backup, and whether it was kept; nil for a good one.
    static func problem(_ report: Backup.Report, _ file: String) -> String? {
        guard !report.isGood else { return nil }
        var parts: [String] = []
        if report.damagedRecords > 0 {
            parts.append(
                Amount.text(report.damagedRecords, "record is", "records are") + " damaged"
            )
        }
        if !report.damaged.isEmpty {
            parts.append(
                "these assets are missing, damaged or cannot be read: "
                    + report.damaged.joined(separator: ", ")
            )
        }
        if !report.problems.isEmpty {
            parts.append(
                Amount.text(report.problems.count, "other thing is", "other things are")
                    + " wrong with the database itself"
            )
        }
        let fate =
            report.isKept
            ? "the backup has all the rest"
            : "\(file) is left as it was; give another name to keep a backup of all the rest"
        let text = parts.joined(separator: ", and ")
        return text.prefix(1).uppercased() + text.dropFirst()
            + "; \(fate); cloudkit check reports details"
    }
}
