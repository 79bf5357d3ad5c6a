import ArgumentParser
import CloudKitWebClient

/// A command that prints the changes of a zone.
struct RecordsChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "List the records of a zone that changed since a token.",
        discussion: """
            The default zone and the public database have no change feed. With --json the last line \
            is {"syncToken": …, "zoneID": …}: pass the token to --since the next time.
            """
    )

    /// The last line of the output for programs.
    private struct End: Encodable {
        let syncToken: String
        let zoneID: WireZoneID
    }

    @Option(help: "The token of the last call; all records when it is omitted.")
    var since: String?

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func validate() throws {
        guard place.zone != nil else {
            throw ValidationError("Give --zone: the default zone has no list of changes")
        }
    }

    func run() async throws {
        let client = try place.database.connection.client()
        var changes = ZoneChangePages(
            client: client,
            database: place.database.scope(client),
            zoneID: place.zoneID,
            syncToken: since
        )
        var found: [ItemResult<WireRecord>] = []
        while let records = try await changes.next() {
            if output.json {
                for record in records { try output.write(record) }
            } else {
                found += records
            }
        }
        let token = changes.syncToken ?? ""
        if output.json { return try output.write(End(syncToken: token, zoneID: place.zoneID)) }
        try output.write(found, RecordTable.list)
        Console.say("For later changes: --since \(token)")
    }
}
