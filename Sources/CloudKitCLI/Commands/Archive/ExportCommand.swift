import ArgumentParser
import CloudKitWebClient
import Foundation

/// A command that exports a database.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a database, or all of a container, to a file, and its assets to a folder.",
        discussion: """
            A service cannot list the record types of the public database and of default zones: name \
            them with --type, or omit the default zone with --without-default-zone. The file appears \
            when it is complete.
            """
    )

    @Argument(help: "The file to write, a JSON object on each line.")
    var file: String

    @Option(help: "The folder for the assets, which is created if necessary.")
    var assets: String

    @Option(name: .customLong("type"), help: "A record type of the default zone; repeatable.")
    var types: [String] = []

    @Option(name: .customLong("zone"), help: "A zone to export, instead of all; repeatable.")
    var zones: [String] = []

    @Flag(help: "Omit the default zone.")
    var withoutDefaultZone = false

    @Flag(help: "Export the public database, the private one and what others share, to one file.")
    var all = false

    @OptionGroup
    var overwriting: OverwriteOptions

    @OptionGroup(title: "Place")
    var place: DatabaseOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        try overwriting.check(file)
        let client = try place.connection.client()
        guard !all || (place.database == nil && zones.isEmpty) else {
            throw CommandFailure(unusable: "--all excludes --database and --zone")
        }
        var parts: [(database: DatabaseScope, zones: [WireZoneID])] = []
        for database in all ? DatabaseScope.allCases : [place.scope(client)] {
            parts.append((database, try await chosenZones(client, database)))
        }
        let folder = AssetFolder(path: assets)
        try folder.make()
        // The file gets its final name when it is complete.
        let part = file + ".part"
        guard FileManager.default.createFile(atPath: part, contents: nil),
            let handle = FileHandle(forWritingAtPath: part)
        else { throw CommandFailure(unusable: "\(part) cannot be written") }
        let summary: ArchiveLine.Summary
        do {
            var export = DatabaseExport(
                client: client,
                types: types,
                assets: folder,
                file: handle
            )
            summary = try await export.run(parts, isAll: all)
            try handle.synchronize()
            try handle.close()
            guard rename(part, file) == 0 else {
                throw CommandFailure(unusable: "\(file) cannot be written")
            }
        } catch {
            // The error below is the one to report.
            try? FileManager.default.removeItem(atPath: part)
            throw error
        }
        if output.json { return try output.write(summary) }
        try Console.write(
            "Exported \(Amount.text(summary.records, "record")) of "
                + "\(Amount.text(summary.zones, "zone")), with "
                + "\(Amount.text(summary.assets, "file")), to \(file)"
        )
    }

    /// Returns the zones to export.
    ///
    /// - Throws: `CommandFailure` when a zone does not exist, or the default zone's types are unknown.
    private func chosenZones(
        _ client: WebClient,
        _ database: DatabaseScope
    ) async throws -> [WireZoneID] {
        var chosen: [WireZoneID]
        if database == .public {
            chosen = [.defaultZone]
        } else {
            chosen = try await client.listZones(in: database).zones.map { item in
                if let failure = item.failure { throw CommandFailure(OutputOptions.text(failure)) }
                return try item.get().zoneID
            }
        }
        if !zones.isEmpty {
            let known = Set(chosen.map(\.zoneName))
            if let missing = zones.first(where: { !known.contains($0) }) {
                throw CommandFailure("No zone \(missing); cloudkit zones list names them")
            }
            chosen = chosen.filter { zones.contains($0.zoneName) }
        }
        if withoutDefaultZone { chosen.removeAll(where: \.isDefault) }
        guard types.isEmpty, chosen.contains(where: \.isDefault) else { return chosen }
        throw CommandFailure(
            unusable: "The service cannot list the record types of the default zone: give each "
                + "with --type, or --without-default-zone"
        )
    }
}
