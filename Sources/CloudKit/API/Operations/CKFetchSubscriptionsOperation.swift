import Foundation

/// Fetches subscriptions, by name or all of the user's.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The subscriptions to fetch.
    public var subscriptionIDs: [CKSubscription.ID]?

    /// Is told what became of each subscription.
    public var perSubscriptionResultBlock:
        (
            (
                _ subscriptionID: CKSubscription.ID,
                _ subscriptionResult: Result<CKSubscription, any Error>
            ) -> Void
        )?

    /// Is told of the end; a failure is one of the whole, not of an item.
    public var fetchSubscriptionsResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var completion: (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var fetched: [CKSubscription.ID: CKSubscription] = [:]
    private var fetchesAll = false

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(subscriptionIDs: [CKSubscription.ID]) {
        self.init()
        self.subscriptionIDs = subscriptionIDs
    }

    /// Makes an operation that fetches all subscriptions.
    ///
    /// - Important: On a subclass, whose initialisers are its own, it ends the process.
    open class func fetchAllSubscriptionsOperation() -> Self {
        let made = CKFetchSubscriptionsOperation()
        made.fetchesAll = true
        guard let operation = made as? Self else {
            preconditionFailure("fetchAllSubscriptionsOperation() makes no \(self)")
        }
        return operation
    }

    /// Is told of the end with what was fetched; items that failed make a `CKError.partialFailure`.
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
