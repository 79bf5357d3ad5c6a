/// A server-side subscription that sends push notifications about changes ("Subscription
/// Dictionary" in Apple's reference).
public struct WireSubscription: Hashable, Sendable, Codable {
    /// The kinds of subscriptions.
    public enum SubscriptionType: String, Hashable, Sendable, Codable, CaseIterable {
        /// Changes of the records that match a query.
        case query
        /// Changes in one zone.
        case zone
        /// Changes in all zones of the database.
        case database
    }

    /// The events of a record.
    public enum Event: String, Hashable, Sendable, Codable, CaseIterable {
        /// A matching record is created.
        case create
        /// A record changes that matches the query, or matched it before.
        case update
        /// A record that matched is deleted.
        case delete
    }

    /// The subscription's name, unique for a user and database; nil lets the server create one.
    public var subscriptionID: String?
    /// The kind of the subscription; absent from the response to a deletion.
    public var subscriptionType: SubscriptionType?
    /// The query for the records to watch, for the type `query`.
    public var query: WireQuery?
    /// The events that fire the subscription, for the type `query`.
    public var firesOn: [Event]?
    /// A Boolean value that indicates whether the subscription ends with its first notification;
    /// nil means no.
    public var firesOnce: Bool?
    /// The zone, for the type `zone`; the searched zone, for the type `query`.
    public var zoneID: WireZoneID?
    /// A Boolean value that indicates whether all zones are watched; nil means yes if no zone is
    /// given.
    public var zoneWide: Bool?
    /// The contents of the notifications.
    public var notificationInfo: WireNotificationInfo?

    /// Creates a subscription.
    public init(
        subscriptionID: String?,
        subscriptionType: SubscriptionType?,
        query: WireQuery? = nil,
        firesOn: [Event]? = nil,
        firesOnce: Bool? = nil,
        zoneID: WireZoneID? = nil,
        notificationInfo: WireNotificationInfo? = nil
    ) {
        self.subscriptionID = subscriptionID
        self.subscriptionType = subscriptionType
        self.query = query
        self.firesOn = firesOn
        self.firesOnce = firesOnce
        self.zoneID = zoneID
        self.notificationInfo = notificationInfo
    }
}
