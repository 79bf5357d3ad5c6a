import CloudKitWire
public import Foundation

/// A push notification about a change that a subscription watches.
///
/// The subclass indicates what changed: a record that matches a query, a zone, or the database.
/// Notifications are hints, and several may be combined into one: fetch the changes.
open class CKNotification: NSObject, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The ID of a notification.
    public typealias ID = CKNotificationID

    /// The kinds of notifications.
    @nonexhaustive
    public enum NotificationType: Int, Sendable {
        /// A record that matches a query changed.
        case query = 1
        /// A zone changed.
        case recordZone = 2
        /// Another device has read a notification; no longer sent.
        case readNotification = 3
        /// The database changed.
        case database = 4
    }

    let payload: NotificationPayload

    init(_ payload: NotificationPayload) {
        self.payload = payload
    }

    /// The kind of the notification.
    open var notificationType: CKNotification.NotificationType { payload.kind }

    /// The notification's ID.
    open var notificationID: CKNotification.ID? {
        payload.notificationID.map { CKNotificationID($0) }
    }

    /// The ID of the container with the change.
    open var containerIdentifier: String? { payload.container }

    /// The ID of the subscription that fired.
    public var subscriptionID: CKSubscription.ID? { payload.text(.subscription) }

    /// The user whose subscription fired.
    open var subscriptionOwnerUserRecordID: CKRecord.ID? {
        payload.owner.map { CKRecord.ID(recordName: $0) }
    }

    /// A Boolean value that indicates whether parts were left out because the payload would be too
    /// large.
    open var isPruned: Bool { payload.isPruned }

    /// A textual representation with the kind, the container and the subscription.
    open override var description: String {
        "<CKNotification: \(notificationType); \(containerIdentifier ?? ""); "
            + "subscription=\(subscriptionID ?? "")>"
    }
}

extension CKNotification {
    /// Creates a notification from the payload of a push, as the subclass that matches it.
    ///
    /// Returns nil for a payload that is not CloudKit's, and, when called on a subclass, for one of
    /// another kind.
    public convenience init?(
        fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]
    ) {
        self.init(pushed: notificationDictionary)
    }
}

// An initialiser of a class cannot return a subclass, but one of a protocol extension can, and so
// can an initialiser that delegates to it. The constraint limits it to notifications.
extension CustomStringConvertible where Self: CKNotification {
    init?(pushed notificationDictionary: [AnyHashable: Any]) {
        guard let payload = NotificationPayload(notificationDictionary) else { return nil }
        let notification: CKNotification =
            switch payload.kind {
            case .query: CKQueryNotification(payload)
            case .recordZone: CKRecordZoneNotification(payload)
            case .database: CKDatabaseNotification(payload)
            default: CKNotification(payload)
            }
        guard let notification = notification as? Self else { return nil }
        self = notification
    }
}
