import ArgumentParser
import CloudKitWebClient

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
        let client = try place.database.connection.client()
        let operations = names.map { name in
            RecordOperation(
                tag == nil ? .forceDelete : .delete,
                WireRecord(recordName: name, recordChangeTag: tag)
            )
        }
        let changes = RecordChanges(
            client: client,
            database: place.database.scope(client),
            zoneID: place.zoneID
        )
        try await changes.send(operations, output) { records in
            var table = Table("deleted")
            for record in records { table.add([record.recordName ?? ""]) }
            return table
        }
    }
}
