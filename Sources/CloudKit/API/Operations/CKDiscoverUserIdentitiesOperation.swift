import Foundation

/// Finds people.
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// What the people are found by.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

    /// Is told of each person who was found.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?

    /// Is told of the end.
    public var discoverUserIdentitiesResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var completion: (((any Error)?) -> Void)?

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// Is told of the end.
    @available(*, deprecated, message: "Use discoverUserIdentitiesResultBlock")
    open var discoverUserIdentitiesCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let infos = userIdentityLookupInfos
        let found = try await containerRequests.identities(infos)
        await report {
            for info in infos {
                if let identity = found[info] { self.userIdentityDiscoveredBlock?(identity, info) }
            }
        }
    }

    override func conclude(_ error: CKError?) {
        if let discoverUserIdentitiesResultBlock {
            discoverUserIdentitiesResultBlock(Result(error))
        } else {
            completion?(error)
        }
    }
}
