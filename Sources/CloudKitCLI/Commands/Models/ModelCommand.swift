import ArgumentParser

/// A command that works with the models of Core Data and SwiftData.
struct ModelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Check and compare models of Core Data and SwiftData.",
        discussion: """
            The exit status is 1 for a model that CloudKit does not accept, and for versions that \
            differ, and 2 when a model cannot be read.
            """,
        subcommands: [ModelLintCommand.self, ModelDiffCommand.self]
    )
}
