import ArgumentParser
import CloudKitServer
import CloudKitWebClient
import Foundation

/// A command that imports an exported database.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import an exported file and its assets into a database.",
        discussion: """
            A record replaces the one with its name, so an import can be run again; with \
            --checkpoint, an interrupted import continues where it stopped. Lines that cannot be \
            imported are reported by number, and kept with --rejects; the status is then 1. Shares \
            are omitted, because people have to be invited again.
            """
    )

    @Argument(help: "The file that cloudkit export wrote.")
    var file: String

    @Option(help: "The folder of the assets.")
    var assets: String?

    @Option(help: "A file for the lines that were not imported, to import them later.")
    var rejects: String?

    @Option(help: "A checkpoint file, with which an interrupted import continues.")
    var checkpoint: String?

    @Flag(help: "Import each part of an export with --all into its original database.")
    var all = false

    @OptionGroup(title: "Place")
    var place: DatabaseOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        var lines = try LineReader(path: file)
        guard let first = try lines.next(), let header = Self.header(first) else {
            throw CommandFailure(unusable: "\(file) does not start as cloudkit export writes it")
        }
        guard !all || place.database == nil else {
            throw CommandFailure(unusable: "--all and --database exclude each other")
        }
        let client = try place.connection.client()
        // Reading the file reports why it cannot be read.
        let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber
        let identity = "\(size?.intValue ?? 0) \(String(decoding: first.data, as: UTF8.self))"
        let earlier = try checkpoint.flatMap { try ImportCheckpoint.read($0, file: identity) }
        if header.version == ArchiveLine.Header.currentVersion { try checkEnd() }
        let kept = try rejects.map {
            try RejectedLines(path: $0, header: first, isContinued: earlier != nil)
        }
        var work = DatabaseImport(
            client: client,
            database: all ? header.database : place.scope(client),
            isAll: all,
            assets: assets.map(AssetFolder.init),
            state: earlier ?? ImportCheckpoint(file: identity),
            save: { [checkpoint] state in try checkpoint.map { try state.write($0) } }
        ) { line, reason in
            Console.say("\(file):\(line.number): \(TerminalText.line(reason))")
            try kept?.add(line)
        }
        let progress = ProgressLine("importing from \(DisplayText(header.container).text)")
        var number = first.number
        do {
            try await work.add(first)
            while let line = try lines.next() {
                try await work.add(line)
                number = line.number
                // The last step sends the waiting records.
                let fraction = Double(lines.position) / Double(max(1, size?.intValue ?? 1))
                if fraction < 1 { progress.update(fraction) }
            }
            try await work.finish()
            try kept?.finish()
        } catch let error as WebClientError {
            let cause = CommandFailure(error)?.message ?? "\(error)"
            throw CommandFailure(
                "\(cause). Stopped at line \(number); run the import again when that is corrected: "
                    + (checkpoint == nil
                        ? "what is there already is replaced by the same"
                        : "it goes on behind line \(work.state.line)")
            )
        }
        // A checkpoint that stays only says that everything is done.
        if let checkpoint { try? FileManager.default.removeItem(atPath: checkpoint) }
        progress.update(1)
        try print(work.state.report)
    }

    private func print(_ report: ImportReport) throws {
        if output.json {
            try output.write(report)
        } else {
            try Console.write(
                "Imported \(Amount.text(report.records, "record")) of "
                    + "\(Amount.text(report.zones, "zone")), with "
                    + Amount.text(report.assets, "file")
            )
        }
        if let count = report.keptAssets {
            Console.say(
                "Kept \(Amount.text(count, "file")) of existing records, because the "
                    + "export has no values for their fields"
            )
        }
        if report.shares > 0 {
            Console.say(
                report.shares == 1
                    ? "1 share was left out: invite its people again"
                    : "\(report.shares) shares were left out: invite their people again"
            )
        }
        guard report.rejected == 0 else {
            throw CommandFailure(
                Amount.text(report.rejected, "line was", "lines were") + " not imported"
            )
        }
    }

    /// Checks that the file has its last line, before anything of it is imported.
    ///
    /// What cannot be read twice, such as standard input, is checked after it was read.
    ///
    /// - Throws: `CommandFailure` when the file is truncated.
    private func checkEnd() throws {
        guard let last = try LineReader.last(path: file) else { return }
        // Half a line is the end of no export either.
        guard (try? WireJSON.decode(ArchiveLine.self, from: last))?.end == nil else { return }
        throw CommandFailure(
            unusable:
                "\(file) has no last line \"end\": it was cut short, and nothing was imported. "
                + "Copy or export it again; to import what it has, pass it as standard input: "
                + "cloudkit import - < FILE"
        )
    }

    /// Returns the header in the first line; nil when the file is not an export.
    private static func header(_ line: LineReader.Line) -> ArchiveLine.Header? {
        // The caller says what is wrong with a file that is none.
        (try? WireJSON.decode(ArchiveLine.self, from: line.data))?.export
    }
}
