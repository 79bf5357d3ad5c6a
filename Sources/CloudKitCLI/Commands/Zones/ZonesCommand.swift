import ArgumentParser

/// A command that lists, creates and deletes zones.
struct ZonesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zones",
        abstract: "List, create and delete zones.",
        subcommands: [ZonesListCommand.self, ZonesCreateCommand.self, ZonesDeleteCommand.self]
    )
}
