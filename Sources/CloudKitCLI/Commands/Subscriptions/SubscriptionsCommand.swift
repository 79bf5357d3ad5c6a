import ArgumentParser

/// A command that lists, creates and deletes subscriptions.
struct SubscriptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "List, create and delete subscriptions.",
        subcommands: [
            SubscriptionsListCommand.self, SubscriptionsCreateCommand.self,
            SubscriptionsDeleteCommand.self,
        ]
    )
}
