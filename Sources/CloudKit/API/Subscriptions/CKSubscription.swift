public import Foundation

/// A server-side subscription that sends push notifications about changes; see its subclasses.
open class CKSubscription: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps fill in a subscription before they hand it over.

    /// The name of a subscription.
    public typealias ID = String

    /// The contents of a subscription's notifications.
    public typealias NotificationInfo = CKNotificationInfo

    /// The kinds of subscriptions.
    @nonexhaustive
    public enum SubscriptionType: Int, Sendable {
        /// Changes of the records that match a predicate.
        case query = 1
        /// Changes in one zone.
        case recordZone = 2
        /// Changes in all zones of the database.
        case database = 3
    }

    /// The subscription's name, unique for a user and database.
    public var subscriptionID: CKSubscription.ID { identity }

    /// The kind of the subscription.
    open var subscriptionType: CKSubscription.SubscriptionType { kind }

    /// The contents of the notifications; must be set before the subscription is saved.
    open var notificationInfo: CKSubscription.NotificationInfo? {
        get { info }
        set { info = newValue?.copy() as? CKNotificationInfo }
    }

    private let identity: CKSubscription.ID
    private let kind: SubscriptionType
    private var info: CKNotificationInfo?

    init(_ identity: CKSubscription.ID, _ kind: SubscriptionType) {
        precondition(!identity.isEmpty, "CKSubscription: the subscription ID is empty")
        self.identity = identity
        self.kind = kind
    }

    /// Returns an independent copy with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        preconditionFailure("CKSubscription is used through its subclasses only")
    }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes name, kind and notification contents.
    open func encode(with coder: NSCoder) {
        coder.encode(identity as NSString, forKey: "SubscriptionID")
        coder.encode(Int64(kind.rawValue), forKey: "SubscriptionType")
        coder.encode(info, forKey: "NotificationInfo")
    }

    /// Creates a subscription from an archive; nil when its name or kind is missing.
    public required init?(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let identity = aDecoder.string(forKey: "SubscriptionID"), !identity.isEmpty,
            let kind: SubscriptionType = aDecoder.choice(forKey: "SubscriptionType")
        else { return nil }
        self.identity = identity
        self.kind = kind
        info = aDecoder.object(CKNotificationInfo.self, forKey: "NotificationInfo")
    }

    /// Returns whether name and kind are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription else { return false }
        return self === other || (identity == other.identity && kind == other.kind)
    }

    /// A hash of the name.
    open override var hash: Int { identity.hashValue }

    /// A textual representation with the name and the kind.
    open override var description: String { "<CKSubscription: \(identity); \(kind)>" }
}
