import ArgumentParser
import CloudKitServerCore
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
            replaces a good backup only by another good one. The file of a database is the same as \
            that of a folder; its rows are copied to a folder beside the file first, which needs room \
            for them.
            """
    )

    @Argument(help: "The file to write.")
    var file: String

    @OptionGroup
    var overwriting: OverwriteOptions

    @OptionGroup
    var place: DataPlaceOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        try overwriting.check(file)
        let place = try place.selected.place
        let (file, force) = (file, overwriting.force)
        let report = try await Interruptible.run {
            try await Self.backUp(place, to: file, replaces: force)
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

    private static func backUp(
        _ place: ServerData.Place,
        to file: String,
        replaces: Bool
    ) async throws -> Backup.Report {
        let seconds = Int64(Date.now.timeIntervalSince1970)
        if case .folder(let path) = place {
            let folder = DataFolder(path: path)
            try folder.check()
            return try await Backup(of: path, assets: try folder.assets()).write(
                to: file,
                replaces: replaces,
                seconds: seconds
            )
        }
        // Servers may write meanwhile.
        let source = try await DataCopySide.source(place, isHeld: false)
        let line = ProgressLine("copying")
        return try await Backup.write(
            dataOf: source.data,
            assets: source.assets,
            to: file,
            replaces: replaces,
            seconds: seconds
        ) { done, total in line.update(Double(done) / Double(max(total, 1))) }
    }

    /// Returns what is damaged in a backup, and whether it was kept; nil for a good one.
    static func problem(_ report: Backup.Report, _ file: String) -> String? {
        guard !report.isGood else { return nil }
        var parts: [String] = []
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
        return report.damagedRecords.sentence(parts)
            + "; \(fate); cloudkit check reports details"
    }
}
