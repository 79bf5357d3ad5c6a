import Foundation

/// An operation that saves and deletes subscriptions.
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The subscriptions to save.
    open var subscriptionsToSave: [CKSubscription]?

    /// The subscriptions to delete.
    public var subscriptionIDsToDelete: [CKSubscription.ID]?

    /// The closure to call with the result for each subscription to save.
    public var perSubscriptionSaveBlock:
        (
            (
                _ subscriptionID: CKSubscription.ID,
                _ saveResult: Result<CKSubscription, any Error>
            ) -> Void
        )?

    /// The closure to call with the result for each subscription to delete.
    public var perSubscriptionDeleteBlock:
        (
            (_ subscriptionID: CKSubscription.ID, _ deleteResult: Result<Void, any Error>)
                -> Void
        )?

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var modifySubscriptionsResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var completion: (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var saved: [CKSubscription] = []
    private var deleted: [CKSubscription.ID] = []

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that saves and deletes subscriptions.
    public convenience init(
        subscriptionsToSave: [CKSubscription]? = nil,
        subscriptionIDsToDelete: [CKSubscription.ID]? = nil
    ) {
        self.init()
        self.subscriptionsToSave = subscriptionsToSave
        self.subscriptionIDsToDelete = subscriptionIDsToDelete
    }

    /// The closure to call at the end, with the saved and deleted subscriptions; failed ones are
    /// reported as one `CKError.partialFailure`.
    @available(*, deprecated, message: "Use modifySubscriptionsResultBlock")
    public var modifySubscriptionsCompletionBlock:
        (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let subscriptions = subscriptionsToSave ?? []
        let names = subscriptionIDsToDelete ?? []
        let results = try await requests.modifySubscriptions(
            saving: subscriptions,
            deleting: names
        )
        await report {
            for name in subscriptions.map(\.subscriptionID) {
                self.report(name, results.saveResults[name])
            }
            for name in names { self.report(name, results.deleteResults[name]) }
        }
    }

    private func report(
        _ name: CKSubscription.ID,
        _ result: Result<CKSubscription, any Error>?
    ) {
        guard let result else { return }
        errors.note(name, result)
        if let subscription = result.value { saved.append(subscription) }
        perSubscriptionSaveBlock?(name, result)
    }

    private func report(_ name: CKSubscription.ID, _ result: Result<Void, any Error>?) {
        guard let result else { return }
        errors.note(name, result)
        if result.error == nil { deleted.append(name) }
        perSubscriptionDeleteBlock?(name, result)
    }

    override func conclude(_ error: CKError?) {
        if let modifySubscriptionsResultBlock {
            modifySubscriptionsResultBlock(Result(error))
        } else {
            completion?(saved, deleted, errors.summary(error))
        }
    }
}
