import CloudKitWebClient

/// Subscriptions as tables for people.
enum SubscriptionTable {
    /// Returns a table with a row for each subscription.
    static func list(_ subscriptions: [WireSubscription]) -> Table {
        var table = Table("subscription", "type", "watches", "on")
        for subscription in subscriptions {
            let watched = [subscription.query?.recordType, subscription.zoneID?.zoneName]
            table.add([
                subscription.subscriptionID ?? "", subscription.subscriptionType?.rawValue ?? "",
                watched.compactMap(\.self).joined(separator: " in "),
                (subscription.firesOn ?? []).map(\.rawValue).joined(separator: ", "),
            ])
        }
        return table
    }
}
