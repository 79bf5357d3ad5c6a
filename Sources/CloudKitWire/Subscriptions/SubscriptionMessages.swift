/// The body of `subscriptions/lookup`.
public struct LookupSubscriptionsRequest: Hashable, Sendable, Codable {
    /// One subscription to look up.
    public struct Item: Hashable, Sendable, Codable {
        /// The subscription's name.
        public var subscriptionID: String

        /// Makes an item.
        public init(subscriptionID: String) {
            self.subscriptionID = subscriptionID
        }
    }

    /// The subscriptions, answered in this order.
    public var subscriptions: [Item]

    /// Makes a request.
    public init(subscriptions: [Item]) {
        self.subscriptions = subscriptions
    }
}

/// The body of `subscriptions/modify`.
public struct ModifySubscriptionsRequest: Hashable, Sendable, Codable {
    /// One change to one subscription.
    public struct Operation: Hashable, Sendable, Codable {
        /// What is done to the subscription.
        public enum OperationType: String, Hashable, Sendable, Codable, CaseIterable {
            /// Makes the subscription, or keeps the one of that name.
            case create
            /// Replaces the subscription.
            case update
            /// Deletes the subscription.
            case delete
        }

        /// What is done.
        public var operationType: OperationType
        /// The subscription; its name is enough to delete it.
        public var subscription: WireSubscription

        /// Makes an operation.
        public init(_ operationType: OperationType, _ subscription: WireSubscription) {
            self.operationType = operationType
            self.subscription = subscription
        }
    }

    /// The changes, answered in this order.
    public var operations: [Operation]

    /// Makes a request.
    public init(operations: [Operation]) {
        self.operations = operations
    }
}

/// The answer of `subscriptions/list`, `subscriptions/lookup` and `subscriptions/modify`.
public struct SubscriptionsResponse: Hashable, Sendable, Codable {
    /// The subscriptions, in request order; a deleted one has its name only.
    public var subscriptions: [ItemResult<WireSubscription>]

    /// Makes an answer.
    public init(subscriptions: [ItemResult<WireSubscription>]) {
        self.subscriptions = subscriptions
    }

    private enum CodingKeys: CodingKey {
        case subscriptions
    }

    /// Reads an answer.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        subscriptions = try container.decodeItems(WireSubscription.self, forKey: .subscriptions)
    }

    /// Writes an answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeItems(subscriptions, forKey: .subscriptions)
    }
}
