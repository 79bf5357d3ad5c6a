import ArgumentParser
import CloudKitWebClient

/// A command that prints the caller's subscriptions.
struct SubscriptionsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the subscriptions of a database."
    )

    @OptionGroup(title: "Place")
    var place: DatabaseOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let client = try place.connection.client()
        let found = try await client.listSubscriptions(in: place.scope(client)).subscriptions
        try output.write(found, SubscriptionTable.list)
    }
}
