import ArgumentParser
import CloudKitServer
import CloudKitServerCore

/// A command that checks a server's data.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check all data of a server: rows, indexes, references and files.",
        discussion: """
            Each row and file is compared with its checksum, each value with the schema, and each \
            index entry and reference with its record. The server may be running. The exit status is \
            1 when something is wrong. Stop the server for --repair, which changes nothing beside \
            one: a repair that is interrupted leaves the data marked as damaged, so that nothing is \
            written to it before another one has come to its end.
            """
    )

    @Flag(
        help: """
            Rebuild the data that derives from records: indexes, references, sums. Remove values \
            that are left of fields that were dropped in development.
            """
    )
    var repair = false

    @OptionGroup
    var place: DataPlaceOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let data = try place.selected
        // No server starts on the folder before the repair has ended.
        var hold: FolderHold?
        var isServed = false
        if case .folder(let path) = data.place {
            try DataFolder(path: path).check()
            if repair {
                hold = FolderHold(of: path)
                isServed = hold == nil
            }
        }
        defer { withExtendedLifetime(hold) {} }
        let service = try await data.open(readsAssets: true)
        let report = try await service.check(repairs: repair && !isServed)
        if output.json {
            for finding in report.findings { try output.write(finding) }
        } else {
            for finding in report.findings { try Console.write(Self.text(finding)) }
            try Console.write(
                "Checked \(Amount.text(report.records, "record")) in "
                    + "\(Amount.text(report.zones, "zone")), and at "
                    + Amount.text(report.assets, "asset")
            )
        }
        guard !report.isGood else { return }
        let left = report.findings.filter { !$0.isRepaired }
        let derived = left.filter(\.isDerived).count
        let remedy =
            if isServed, derived > 0 || report.canBeRepaired == nil {
                ", and nothing was repaired, because a server, or another repair, works on \(data.name): "
                    + "stop it, and run cloudkit check --repair again"
            } else if report.canBeRepaired == nil {
                "; the database itself is damaged: run it with --repair, which changes nothing if it "
                    + "cannot help, and restore a backup then"
            } else if report.canBeRepaired == false {
                "; the database itself is damaged, so --repair cannot correct them: restore a backup"
            } else if derived > 0, !repair {
                "; --repair corrects \(derived) of them"
            } else {
                ""
            }
        throw CommandFailure(Amount.text(left.count, "thing is", "things are") + " wrong" + remedy)
    }

    private static func text(_ finding: CheckFinding) -> String {
        let place = [
            finding.container, finding.environment, finding.database, finding.zone, finding.record,
        ].compactMap(\.self).joined(separator: " ")
        let state = finding.isRepaired ? " (repaired)" : ""
        return DisplayText((place.isEmpty ? "" : "\(place): ") + finding.problem + state).text
    }
}
