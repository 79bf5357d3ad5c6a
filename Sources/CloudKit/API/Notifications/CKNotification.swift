public import Foundation

/// What the service pushed: that something a subscription watches has changed.
///
/// The subclass tells what: a record that a query matches, a zone, or the database. Notifications
/// are hints, and several may be sent as one: fetch the changes.
open class CKNotification: NSObject, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The identity of a notification.
    public typealias ID = CKNotificationID

    /// What a notification tells of.
    @nonexhaustive
    public enum NotificationType: Int, Sendable {
        /// A record that a query matches.
        case query = 1
        /// A zone.
        case recordZone = 2
        /// That another device has read a notification; never sent any more.
        case readNotification = 3
        /// The database.
        case database = 4
    }

    let payload: NotificationPayload

    init(_ payload: NotificationPayload) {
        self.payload = payload
    }

    /// What the notification tells of.
    open var notificationType: CKNotification.NotificationType { payload.kind }

    /// The notification's identity.
    open var notificationID: CKNotification.ID? {
        payload.notificationID.map { CKNotificationID($0) }
    }

    /// The container that changed.
    open var containerIdentifier: String? { payload.container }

    /// The subscription that fired.
    public var subscriptionID: CKSubscription.ID? { payload.text("sid") }

    /// The user whose subscription fired.
    open var subscriptionOwnerUserRecordID: CKRecord.ID? {
        payload.owner.map { CKRecord.ID(recordName: $0) }
    }

    /// Whether parts were left out because the payload would have been too large.
    open var isPruned: Bool { payload.isPruned }

    /// Kind, container and subscription.
    open override var description: String {
        "<CKNotification: \(notificationType); \(containerIdentifier ?? ""); "
            + "subscription=\(subscriptionID ?? "")>"
    }
}

extension CKNotification {
    /// Reads what the service pushed, into the subclass that it tells of.
    ///
    /// Returns nil for what is not CloudKit's, and for what tells of something else when it is
    /// called on a subclass.
    public convenience init?(
        fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]
    ) {
        self.init(pushed: notificationDictionary)
    }
}

// An initialiser of a class cannot return a subclass by itself; one of a protocol's extension can,
// and what delegates to it returns the same. The constraint leaves it to notifications alone.
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
