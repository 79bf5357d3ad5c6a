import Foundation

/// An operation that fetches subscriptions: given ones or all of the user's.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The subscriptions to fetch.
    public var subscriptionIDs: [CKSubscription.ID]?

    /// The closure to call with the result for each subscription.
    public var perSubscriptionResultBlock:
        (
            (
                _ subscriptionID: CKSubscription.ID,
                _ subscriptionResult: Result<CKSubscription, any Error>
            ) -> Void
        )?

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var fetchSubscriptionsResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var completion: (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var fetched: [CKSubscription.ID: CKSubscription] = [:]
    private var fetchesAll = false

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that fetches subscriptions.
    public convenience init(subscriptionIDs: [CKSubscription.ID]) {
        self.init()
        self.subscriptionIDs = subscriptionIDs
    }

    /// Creates an operation that fetches all subscriptions.
    ///
    /// - Important: Called on a subclass, which has initialisers of its own, it ends the process.
    open class func fetchAllSubscriptionsOperation() -> Self {
        let made = CKFetchSubscriptionsOperation()
        made.fetchesAll = true
        guard let operation = made as? Self else {
            preconditionFailure("fetchAllSubscriptionsOperation() cannot create a \(self)")
        }
        return operation
    }

    /// The closure to call at the end, with the fetched subscriptions; failed ones are reported as
    /// one `CKError.partialFailure`.
    @available(*, deprecated, message: "Use fetchSubscriptionsResultBlock")
    public var fetchSubscriptionCompletionBlock:
        (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        var order = subscriptionIDs ?? []
        var results: DatabaseRequests.SubscriptionResults = [:]
        if fetchesAll {
            let subscriptions = try await requests.allSubscriptions()
            order = subscriptions.map(\.subscriptionID)
            for subscription in subscriptions {
                results[subscription.subscriptionID] = .success(subscription)
            }
        } else {
            results = try await requests.fetchSubscriptions(order)
        }
        await report { [order, results] in
            for name in order { self.report(name, results[name]) }
        }
    }

    private func report(
        _ name: CKSubscription.ID,
        _ result: Result<CKSubscription, any Error>?
    ) {
        guard let result else { return }
        errors.note(name, result)
        if let subscription = result.value { fetched[name] = subscription }
        perSubscriptionResultBlock?(name, result)
    }

    override func conclude(_ error: CKError?) {
        if let fetchSubscriptionsResultBlock {
            fetchSubscriptionsResultBlock(Result(error))
        } else {
            completion?(fetched, errors.summary(error))
        }
    }
}
