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
