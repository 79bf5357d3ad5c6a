import Foundation

/// An operation that looks up users in the address book: none, because there is no address book
/// here.
@available(*, deprecated, message: "There is no replacement")
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks are set before the operation starts.

    /// The closure to call for each user who was found.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity) -> Void)?

    /// The closure to call when the operation ends.
    public var discoverAllUserIdentitiesResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    /// The closure to call when the operation ends.
    open var discoverAllUserIdentitiesCompletionBlock: (((any Error)?) -> Void)?

    /// Creates an operation.
    public override init() {
        super.init()
    }

    override func conclude(_ error: CKError?) {
        if let discoverAllUserIdentitiesResultBlock {
            discoverAllUserIdentitiesResultBlock(Result(error))
        } else {
            discoverAllUserIdentitiesCompletionBlock?(error)
        }
    }
}
