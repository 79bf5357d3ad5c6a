import ArgumentParser
import CloudKitWebClient

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
        let client = try place.database.connection.client()
        let records = try await client.lookup(
            names,
            zoneID: place.zoneID,
            desiredKeys: fields.isEmpty ? nil : fields,
            in: place.database.scope(client)
        )
        try output.write(records, RecordTable.details)
    }
}
