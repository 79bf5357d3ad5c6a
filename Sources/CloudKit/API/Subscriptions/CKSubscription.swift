public import Foundation

/// A wish to be told of changes, kept on the server; see its subclasses.
open class CKSubscription: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps fill one in before they hand it over.

    /// The name of a subscription.
    public typealias ID = String

    /// What the notifications of a subscription say.
    public typealias NotificationInfo = CKNotificationInfo

    /// What is watched.
    @nonexhaustive
    public enum SubscriptionType: Int, Sendable {
        /// The records that a predicate matches.
        case query = 1
        /// One zone.
        case recordZone = 2
        /// All zones of the database.
        case database = 3
    }

    /// The subscription's name, unique for a user and database.
    public var subscriptionID: CKSubscription.ID { identity }

    /// What is watched.
    open var subscriptionType: CKSubscription.SubscriptionType { kind }

    /// What the notifications say; it must be set before the subscription is saved.
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

    /// An independent subscription with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        preconditionFailure("CKSubscription is used through its subclasses only")
    }

    /// True: an archived subscription can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes name, kind and notification.
    open func encode(with coder: NSCoder) {
        coder.encode(identity as NSString, forKey: "SubscriptionID")
        coder.encode(Int64(kind.rawValue), forKey: "SubscriptionType")
        coder.encode(info, forKey: "NotificationInfo")
    }

    /// Reads a subscription; nil when its name or kind is missing.
    public required init?(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let identity = aDecoder.string(forKey: "SubscriptionID"), !identity.isEmpty,
            let kind: SubscriptionType = aDecoder.choice(forKey: "SubscriptionType")
        else { return nil }
        self.identity = identity
        self.kind = kind
        info = aDecoder.object(CKNotificationInfo.self, forKey: "NotificationInfo")
    }

    /// Whether name and kind are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription else { return false }
        return self === other || (identity == other.identity && kind == other.kind)
    }

    /// A hash of the name.
    open override var hash: Int { identity.hashValue }

    /// Name and kind.
    open override var description: String { "<CKSubscription: \(identity); \(kind)>" }
}
