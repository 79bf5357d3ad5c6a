import ArgumentParser
import CloudKitWebClient

/// A command that deletes subscriptions by name.
struct SubscriptionsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete subscriptions by name."
    )

    @Argument(help: "The subscriptions' names.")
    var names: [String]

    @OptionGroup(title: "Place")
    var place: DatabaseOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let client = try place.connection.client()
        let request = ModifySubscriptionsRequest(
            operations: names.map {
                .init(.delete, WireSubscription(subscriptionID: $0, subscriptionType: nil))
            }
        )
        let deleted = try await client.modifySubscriptions(request, in: place.scope(client))
        try output.write(deleted.subscriptions) { subscriptions in
            var table = Table("deleted")
            for subscription in subscriptions { table.add([subscription.subscriptionID ?? ""]) }
            return table
        }
    }
}
