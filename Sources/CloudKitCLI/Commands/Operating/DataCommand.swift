import ArgumentParser
import CloudKitServerCore

/// The commands on all data of a server.
struct DataCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "data",
        abstract: "Move all data of a server between a folder and a database.",
        subcommands: [DataCopyCommand.self]
    )
}

/// A command that copies all data of a server.
struct DataCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy all data of a server to another folder or PostgreSQL database.",
        discussion: """
            Each place is a server's folder or the URL of a database. Clients go on with the copy \
            without noticing: users, tokens and all else stay valid. Stop all servers before: a \
            server on a folder is refused, and those on a database cannot write before the copy has \
            ended. Every row and asset is read again from both places and compared. No server uses \
            a copy that was interrupted; the same command continues it.
            """
    )

    @Option(help: "The data to copy: a folder, or postgres://user@host/name.")
    var from: String

    @Option(help: "The place of the copy: an empty folder or database, or an unfinished copy.")
    var to: String

    @OptionGroup
    var options: DataTargetOptions

    @OptionGroup
    var output: OutputOptions

    /// The outcome, in the output of `--json`.
    private struct Outcome: Encodable {
        var rows: Int
        var addedRows: Int
        var assets: Int
        var damagedAssets: [String]
        var damagedRecords: DamagedRecords
        var differences: [String]
        var rowsPerSecond: Int
    }

    func run() async throws {
        let source = try ServerData(at: from, source: "--from")
        let target = try ServerData(at: to, source: "--to")
        guard source.name != target.name else {
            throw CommandFailure(unusable: "--from and --to name the same data; give two places")
        }
        let options = options
        let start = ContinuousClock.now
        let report = try await Interruptible.run {
            let from = try await DataCopySide.source(source.place, isHeld: true)
            let to = try await DataCopySide.target(target.place, options, from: from)
            let line = ProgressLine("copying")
            let isShared = to.location != nil && to.location == from.location
            let copy = DataCopy(
                from: from.data,
                to: to.data,
                assets: isShared ? nil : DataCopy.Assets(from: from.assets, to: to.assets)
            ) { done, total in
                line.update(Double(done) / Double(max(total, 1)))
            }
            let report = try await Self.run(copy)
            try to.data.close()
            try from.data.close()
            return report
        }
        try write(report, target.name, seconds: (ContinuousClock.now - start) / .seconds(1))
        guard report.isComplete else {
            throw CommandFailure(
                "\(target.name) differs in \(Amount.text(report.differenceCount, "place")), and no server "
                    + "uses it; something else wrote to one of both: start over with an empty target"
            )
        }
        guard report.damagedAssets.isEmpty else {
            throw CommandFailure(
                "These assets are missing or damaged in \(source.name): "
                    + report.damagedAssets.joined(separator: ", ") + "; the copy has all the rest"
            )
        }
        guard report.damagedRecords.isEmpty else {
            throw CommandFailure(
                "\(report.damagedRecords.text) in \(source.name), and as they are in the copy, which can be used; "
                    + "cloudkit check says more"
            )
        }
    }

    /// Runs a copy; says that it can be continued where it failed for a reason that may pass.
    private static func run(_ copy: DataCopy) async throws -> DataCopy.Report {
        do {
            return try await copy.run()
        } catch let error as StorageError where [.busy, .full, .inputOutput].contains(error.code) {
            throw CommandFailure("\(error.message); the same command continues the copy")
        }
    }

    private func write(_ report: DataCopy.Report, _ name: String, seconds: Double) throws {
        guard !output.json else {
            return try output.write(
                Outcome(
                    rows: report.rows,
                    addedRows: report.addedRows,
                    assets: report.assets,
                    damagedAssets: report.damagedAssets,
                    damagedRecords: report.damagedRecords,
                    differences: report.differences,
                    rowsPerSecond: Int(Double(report.rows) / max(seconds, 0.001))
                )
            )
        }
        for difference in report.differences { Console.say(DisplayText(difference).text) }
        guard report.isComplete else { return }
        let earlier = report.rows - report.addedRows
        try Console.write(
            "Copied \(Amount.text(report.rows, "row")) and \(Amount.text(report.assets, "asset")) to "
                + "\(name), and compared all of them"
                + (earlier > 0 ? "; \(Amount.text(earlier, "row")) came from an earlier run" : "")
        )
    }
}
