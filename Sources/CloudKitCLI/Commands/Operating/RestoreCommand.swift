import ArgumentParser
import CloudKitServerCore
import CloudKitServerSQLite
import Foundation

/// A command that restores a server's data.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a server's data from a file of cloudkit backup.",
        discussion: """
            Users, passwords and tokens are restored unchanged. Change tokens expire, so clients \
            fetch everything again. What is restored to a database is in a temporary folder first: \
            TMPDIR names one with room for it.
            """
    )

    @Argument(help: "The file that cloudkit backup wrote.")
    var file: String

    @Option(
        help:
            "The folder to restore to, which must be empty; created if necessary. cloudkit-data by default."
    )
    var data: String?

    @Option(
        help: """
            The PostgreSQL database to restore to instead, which must be empty, such as \
            postgres://user@host/name; CLOUDKIT_DATABASE.
            """
    )
    var database: String?

    @OptionGroup
    var options: DataTargetOptions

    @OptionGroup
    var output: OutputOptions

    /// The outcome, in the output of `--json`.
    private struct Outcome: Encodable {
        var data: String
        var damaged: [String]
        var damagedRecords: DamagedRecords
    }

    func run() async throws {
        let data = try ServerData(folder: data, database: database)
        let (file, options) = (file, options)
        let report = try await Interruptible.run {
            try await Self.restore(file, to: data.place, options)
        }
        if output.json {
            try output.write(
                Outcome(
                    data: data.name,
                    damaged: report.damagedAssets,
                    damagedRecords: report.damagedRecords
                )
            )
        } else {
            try Console.write("Restored \(file) to \(data.name)")
        }
        if let problem = Self.problem(report, file) { throw CommandFailure(problem) }
    }

    private static func restore(
        _ file: String,
        to place: ServerData.Place,
        _ options: DataTargetOptions
    ) async throws -> Restore.Report {
        if case .folder(let path) = place {
            try options.check(place)
            guard options.assets == nil else {
                throw CommandFailure(
                    unusable: "--assets is for a database; leave it out for a folder"
                )
            }
            return try await Restore(of: file).run(into: path)
        }
        let target = try await DataCopySide.target(place, options, from: nil)
        let line = ProgressLine("copying")
        return try await Restore(of: file).run(
            into: target.data,
            assets: target.assets,
            in: FileManager.default.temporaryDirectory.path
        ) { done, total in line.update(Double(done) / Double(max(total, 1))) }
    }

    /// Returns what is damaged in a backup; nil for a good one.
    static func problem(_ report: Restore.Report, _ file: String) -> String? {
        guard !report.isGood else { return nil }
        var parts: [String] = []
        if !report.damagedAssets.isEmpty {
            parts.append(
                "these assets are missing in \(file), or do not match their checksums: "
                    + report.damagedAssets.joined(separator: ", ")
            )
        }
        return report.damagedRecords.sentence(parts)
            + "; they were damaged before the backup, or the file was damaged later: try another one"
    }
}
