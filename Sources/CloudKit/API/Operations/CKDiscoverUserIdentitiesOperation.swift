import Foundation

/// An operation that looks up users.
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The keys to look people up by.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

    /// The closure to call for each user who was found.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?

    /// The closure to call when the operation ends.
    public var discoverUserIdentitiesResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var completion: (((any Error)?) -> Void)?

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that looks up users.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// The closure to call when the operation ends.
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
