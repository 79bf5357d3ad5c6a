import ArgumentParser

/// A command that works with the stores of Core Data and SwiftData.
struct CoreDataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "core-data",
        abstract: "Inspect stores of Core Data and SwiftData, and convert them to databases.",
        discussion: """
            A store is copied with its companion files, and only the copy is opened. The exit status \
            is 1 when a store is not converted, and 2 when it cannot be read.
            """,
        subcommands: [CoreDataInspectCommand.self, CoreDataConvertCommand.self]
    )
}
