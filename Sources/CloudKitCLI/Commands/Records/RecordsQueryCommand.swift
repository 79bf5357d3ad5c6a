import ArgumentParser
import CloudKitWebClient

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
        let client = try place.database.connection.client()
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
            let page = try await client.queryRecords(request, in: place.database.scope(client))
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
