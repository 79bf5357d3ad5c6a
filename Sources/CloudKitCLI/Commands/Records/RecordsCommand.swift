import ArgumentParser
import CloudKitWebClient

/// A command that reads and changes records.
struct RecordsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "records",
        abstract: "Query, get, save and delete records.",
        subcommands: [
            RecordsQueryCommand.self, RecordsGetCommand.self, RecordsSaveCommand.self,
            RecordsDeleteCommand.self, RecordsChangesCommand.self,
        ]
    )
}

/// A command that prints the records that a query finds.
struct RecordsQueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Find records of a type.",
        discussion: """
            A condition is FIELD OPERATOR VALUE, such as 'age >= 18' or 'title BEGINS_WITH Mil'; \
            FIELD:TYPE sets the type of the value, as in 'due:TIMESTAMP < 2026-01-31T12:00:00Z'.
            """
    )

    @Argument(help: "The record type.")
    var type: String

    @Option(name: .customLong("where"), help: "A condition; may be given several times.")
    var conditions: [String] = []

    @Option(name: .customLong("sort"), help: "FIELD or FIELD:desc; may be given several times.")
    var order: [String] = []

    @Option(name: .customLong("field"), help: "A field to fetch, instead of all; repeatable.")
    var fields: [String] = []

    @Option(help: "The maximum number of records; 0 for all.")
    var limit = 200

    @Flag(help: "Search all zones.")
    var allZones = false

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit \(limit): give 0 or more") }
        guard !allZones || place.zone == nil else {
            throw ValidationError("--zone and --all-zones exclude each other")
        }
    }

    func run() async throws {
        let query = WireQuery(
            recordType: type,
            filterBy: try conditions.map { try FilterExpression($0).filter },
            sortBy: try order.map { try SortExpression($0).sort }
        )
        let client = try place.connection.client()
        var found: [ItemResult<WireRecord>] = []
        var request = QueryRecordsRequest(
            query: query,
            zoneID: allZones ? nil : place.zoneID,
            zoneWide: allZones ? true : nil,
            desiredKeys: fields.isEmpty ? nil : fields
        )
        var count = 0
        repeat {
            let rest = limit == 0 ? Limits.recordsPerResponse : limit - count
            request.resultsLimit = min(rest, Limits.recordsPerResponse)
            let page = try await client.queryRecords(request, in: place.scope(client))
            count += page.records.count
            request.continuationMarker = page.continuationMarker
            if output.json {
                for record in page.records { try output.write(record) }
            } else {
                found += page.records
            }
        } while request.continuationMarker != nil && (limit == 0 || count < limit)
        if !output.json { try output.write(found, RecordTable.list) }
        if request.continuationMarker != nil {
            Console.say("There may be more; --limit 0 prints all.")
        }
    }
}

/// A command that prints records by name.
struct RecordsGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch records by name, with every field."
    )

    @Argument(help: "The records' names.")
    var names: [String]

    @Option(name: .customLong("field"), help: "A field to fetch, instead of all; repeatable.")
    var fields: [String] = []

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let client = try place.connection.client()
        let records = try await client.lookup(
            names,
            zoneID: place.zoneID,
            desiredKeys: fields.isEmpty ? nil : fields,
            in: place.scope(client)
        )
        try output.write(records, RecordTable.details)
    }
}

/// A command that deletes records by name.
struct RecordsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete records by name."
    )

    @Argument(help: "The records' names.")
    var names: [String]

    @Option(help: "Delete only if the record's change tag is still this one; for a single record.")
    var tag: String?

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func validate() throws {
        guard tag == nil || names.count == 1 else {
            throw ValidationError("--tag is for a single record; delete the others without it")
        }
    }

    func run() async throws {
        let client = try place.connection.client()
        let operations = names.map { name in
            RecordOperation(
                tag == nil ? .forceDelete : .delete,
                WireRecord(recordName: name, recordChangeTag: tag)
            )
        }
        let changes = RecordChanges(
            client: client,
            database: place.scope(client),
            zoneID: place.zoneID
        )
        try await changes.send(operations, output) { records in
            var table = Table("deleted")
            for record in records { table.add([record.recordName ?? ""]) }
            return table
        }
    }
}

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
        let client = try place.connection.client()
        var changes = ZoneFeedReader(
            client: client,
            database: place.scope(client),
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
