// Operations around a list of notifications that CloudKit kept until 2017. Apple's framework still
// declares them; neither there nor here is there anything left for them to do.

/// Fetched the notifications that the user had not seen; ends without any.
@available(*, deprecated, message: "Use CKFetchDatabaseChangesOperation instead")
open class CKFetchNotificationChangesOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// Where the last fetch ended.
    open var previousServerChangeToken: CKServerChangeToken?

    /// The number of notifications to fetch; 0 leaves it to the server.
    open var resultsLimit: Int = 0

    /// Is called for each notification; never, here.
    open var notificationChangedBlock: ((CKNotification) -> Void)?

    /// Is told of the end, with the token that the operation was given.
    open var fetchNotificationChangesCompletionBlock:
        ((CKServerChangeToken?, (any Error)?) -> Void)?

    /// False: there are no notifications.
    open var moreComing: Bool { false }

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func conclude(_ error: CKError?) {
        fetchNotificationChangesCompletionBlock?(previousServerChangeToken, error)
    }
}

/// Marked notifications as read; ends without doing anything.
@available(*, deprecated, message: "Instead of iterating notifications, fetch the changes")
open class CKMarkNotificationsReadOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the block and the value are set before the operation starts.

    /// The notifications to mark.
    open var notificationIDs: [CKNotification.ID]?

    /// Is told of the end, with the notifications that were to be marked.
    open var markNotificationsReadCompletionBlock: (([CKNotification.ID]?, (any Error)?) -> Void)?

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(notificationIDsToMarkRead notificationIDs: [CKNotification.ID]) {
        self.init()
        self.notificationIDs = notificationIDs
    }

    override func conclude(_ error: CKError?) {
        markNotificationsReadCompletionBlock?(error == nil ? notificationIDs : nil, error)
    }
}

/// Set the number on the app's icon on all of the user's devices; fails.
@available(*, deprecated, message: "No longer supported, will cease working at some point")
open class CKModifyBadgeOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the block and the value are set before the operation starts.

    /// The number.
    open var badgeValue: Int = 0

    /// Is told of the end, which is `CKError.serverRejectedRequest`.
    open var modifyBadgeCompletionBlock: (((any Error)?) -> Void)?

    /// Makes an operation that sets the number to 0.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(badgeValue: Int) {
        self.init()
        self.badgeValue = badgeValue
    }

    override func perform() async throws(CKError) {
        throw CKError(
            .serverRejectedRequest,
            message: "CloudKit sets no badges any more; set the app's badge on the device"
        )
    }

    override func conclude(_ error: CKError?) {
        modifyBadgeCompletionBlock?(error)
    }
}
