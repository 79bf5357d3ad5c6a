import Foundation

/// Finds people of the address book: nobody, there is no address book here.
@available(*, deprecated, message: "There is no replacement")
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks are set before the operation starts.

    /// Is told of each person who was found.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity) -> Void)?

    /// Is told of the end.
    public var discoverAllUserIdentitiesResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    /// Is told of the end.
    open var discoverAllUserIdentitiesCompletionBlock: (((any Error)?) -> Void)?

    /// Makes an operation.
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
