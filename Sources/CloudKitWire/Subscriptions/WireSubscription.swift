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

/// The body of `subscriptions/lookup`.
public struct LookupSubscriptionsRequest: Hashable, Sendable, Codable {
    /// One subscription to look up.
    public struct Item: Hashable, Sendable, Codable {
        /// The subscription's name.
        public var subscriptionID: String

        /// Creates an item.
        public init(subscriptionID: String) {
            self.subscriptionID = subscriptionID
        }
    }

    /// The subscriptions; the response has the same order.
    public var subscriptions: [Item]

    /// Creates a request.
    public init(subscriptions: [Item]) {
        self.subscriptions = subscriptions
    }
}

/// The body of `subscriptions/modify`.
public struct ModifySubscriptionsRequest: Hashable, Sendable, Codable {
    /// One change to one subscription.
    public struct Operation: Hashable, Sendable, Codable {
        /// The kinds of changes to a subscription.
        public enum OperationType: String, Hashable, Sendable, Codable, CaseIterable {
            /// Creates the subscription, or keeps an existing one with that name.
            case create
            /// Replaces the subscription.
            case update
            /// Deletes the subscription.
            case delete
        }

        /// The kind of change.
        public var operationType: OperationType
        /// The subscription; a deletion needs only its name.
        public var subscription: WireSubscription

        /// Creates an operation.
        public init(_ operationType: OperationType, _ subscription: WireSubscription) {
            self.operationType = operationType
            self.subscription = subscription
        }
    }

    /// The changes; the response has the same order.
    public var operations: [Operation]

    /// Creates a request.
    public init(operations: [Operation]) {
        self.operations = operations
    }
}

/// The response of `subscriptions/list`, `subscriptions/lookup` and `subscriptions/modify`.
public struct SubscriptionsResponse: Hashable, Sendable, Codable {
    /// The subscriptions, in request order; a deleted one has only its name.
    public var subscriptions: [ItemResult<WireSubscription>]

    /// Creates a response.
    public init(subscriptions: [ItemResult<WireSubscription>]) {
        self.subscriptions = subscriptions
    }

    private enum CodingKeys: CodingKey {
        case subscriptions
    }

    /// Creates a response by decoding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        subscriptions = try container.decodeItems(WireSubscription.self, forKey: .subscriptions)
    }

    /// Encodes a response.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeItems(subscriptions, forKey: .subscriptions)
    }
}
