// Operations on a list of notifications that CloudKit kept until 2017. Apple's framework still
// declares them; neither there nor here do they have anything left to do.

/// An operation that fetched the user's unseen notifications; it ends without any.
@available(*, deprecated, message: "Use CKFetchDatabaseChangesOperation instead")
open class CKFetchNotificationChangesOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The token that the last fetch ended with.
    open var previousServerChangeToken: CKServerChangeToken?

    /// The number of notifications to fetch; 0 leaves it to the server.
    open var resultsLimit: Int = 0

    /// The closure to call for each notification; never called here.
    open var notificationChangedBlock: ((CKNotification) -> Void)?

    /// The closure to call when the operation ends, with the token that the operation was given.
    open var fetchNotificationChangesCompletionBlock:
        ((CKServerChangeToken?, (any Error)?) -> Void)?

    /// A Boolean value that indicates whether there are more notifications; always `false`.
    open var moreComing: Bool { false }

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation with a token.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func conclude(_ error: CKError?) {
        fetchNotificationChangesCompletionBlock?(previousServerChangeToken, error)
    }
}

/// An operation that marked notifications as read; it does nothing.
@available(*, deprecated, message: "Instead of iterating notifications, fetch the changes")
open class CKMarkNotificationsReadOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the block and the value are set before the operation starts.

    /// The notifications to mark.
    open var notificationIDs: [CKNotification.ID]?

    /// The closure to call when the operation ends, with the notifications that were to be marked.
    open var markNotificationsReadCompletionBlock: (([CKNotification.ID]?, (any Error)?) -> Void)?

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation with notifications.
    public convenience init(notificationIDsToMarkRead notificationIDs: [CKNotification.ID]) {
        self.init()
        self.notificationIDs = notificationIDs
    }

    override func conclude(_ error: CKError?) {
        markNotificationsReadCompletionBlock?(error == nil ? notificationIDs : nil, error)
    }
}

/// An operation that set the number on the app's icon on all of the user's devices; it fails.
@available(*, deprecated, message: "No longer supported, will cease working at some point")
open class CKModifyBadgeOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the block and the value are set before the operation starts.

    /// The number.
    open var badgeValue: Int = 0

    /// The closure to call when the operation ends, which is `CKError.serverRejectedRequest`.
    open var modifyBadgeCompletionBlock: (((any Error)?) -> Void)?

    /// Creates an operation with the number 0.
    public override init() {
        super.init()
    }

    /// Creates an operation with a number.
    public convenience init(badgeValue: Int) {
        self.init()
        self.badgeValue = badgeValue
    }

    override func perform() async throws(CKError) {
        throw CKError(
            .serverRejectedRequest,
            message: "CloudKit no longer sets badges; set the app's badge on the device"
        )
    }

    override func conclude(_ error: CKError?) {
        modifyBadgeCompletionBlock?(error)
    }
}
