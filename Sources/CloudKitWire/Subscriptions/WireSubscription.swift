/// A wish to be told of changes ("Subscription Dictionary" in Apple's reference).
public struct WireSubscription: Hashable, Sendable, Codable {
    /// What is watched.
    public enum SubscriptionType: String, Hashable, Sendable, Codable, CaseIterable {
        /// The records that a query matches.
        case query
        /// One zone.
        case zone
        /// All zones of the database.
        case database
    }

    /// What happens to a record.
    public enum Event: String, Hashable, Sendable, Codable, CaseIterable {
        /// A record is made that matches the query.
        case create
        /// A record changes that matches, or did before.
        case update
        /// A record that matched is deleted.
        case delete
    }

    /// The subscription's name, unique for a user and database; nil asks the server to make one.
    public var subscriptionID: String?
    /// What is watched; absent from the answer to a deletion.
    public var subscriptionType: SubscriptionType?
    /// The records that are watched, for the type `query`.
    public var query: WireQuery?
    /// What must happen to a record, for the type `query`.
    public var firesOn: [Event]?
    /// Whether the subscription ends with its first notification; nil means no.
    public var firesOnce: Bool?
    /// The zone, for the type `zone`; the searched zone, for the type `query`.
    public var zoneID: WireZoneID?
    /// Whether all zones are watched; nil means yes where no zone is given.
    public var zoneWide: Bool?
    /// What the notifications say.
    public var notificationInfo: WireNotificationInfo?

    /// Makes a subscription.
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
