import ArgumentParser
import CloudKitWebClient

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

/// A command that creates a subscription.
struct SubscriptionsCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Subscribe to notifications about changes.",
        discussion: """
            A query subscription watches the records of a type that meet every --where condition; \
            a zone subscription watches --zone; a database subscription watches every zone.
            """
    )

    @Option(help: "query, zone or database.")
    var type: WireSubscription.SubscriptionType

    @Option(help: "The subscription's name; the service creates one when it is omitted.")
    var id: String?

    @Option(help: "The record type that a query subscription watches.")
    var recordType: String?

    @Option(name: .customLong("where"), help: "A condition; may be given several times.")
    var conditions: [String] = []

    @Option(
        name: .customLong("on"),
        help: "create, update or delete; repeatable, and all by default."
    )
    var events: [WireSubscription.Event] = []

    @Flag(help: "End the subscription with its first notification.")
    var once = false

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func validate() throws {
        switch type {
        case .query:
            guard recordType != nil else {
                throw ValidationError("A query subscription needs --record-type")
            }
        case .zone, .database:
            guard recordType == nil, conditions.isEmpty, events.isEmpty else {
                throw ValidationError(
                    "--record-type, --where and --on are only for query subscriptions"
                )
            }
            guard type == .database || place.zone != nil else {
                throw ValidationError("A zone subscription needs --zone")
            }
        }
    }

    func run() async throws {
        let subscription = WireSubscription(
            subscriptionID: id,
            subscriptionType: type,
            query: try recordType.map { type in
                WireQuery(
                    recordType: type,
                    filterBy: try conditions.map { try FilterExpression($0).filter }
                )
            },
            firesOn: type == .query
                ? (events.isEmpty ? WireSubscription.Event.allCases : events) : nil,
            firesOnce: once ? true : nil,
            zoneID: type != .database && place.zone != nil ? place.zoneID : nil
        )
        let client = try place.connection.client()
        let request = ModifySubscriptionsRequest(operations: [.init(.create, subscription)])
        let made = try await client.modifySubscriptions(
            request,
            in: place.scope(client)
        ).subscriptions
        try output.write(made, SubscriptionTable.list)
    }
}

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
