import ArgumentParser

/// A command that reads and changes records.
struct RecordsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "records",
        abstract: "Query, fetch, save and delete records.",
        subcommands: [
            RecordsQueryCommand.self, RecordsGetCommand.self, RecordsSaveCommand.self,
            RecordsDeleteCommand.self, RecordsChangesCommand.self,
        ]
    )
}
