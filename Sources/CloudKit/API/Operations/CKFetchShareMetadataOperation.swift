public import Foundation

/// An operation that fetches the metadata of the shares that links lead to.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The links.
    open var shareURLs: [URL]?

    /// A Boolean value that indicates whether the shared records are fetched too.
    open var shouldFetchRootRecord: Bool = false

    /// The keys of the shared records' fields to fetch; nil for all.
    public var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// The closure to call with the result for each link.
    public var perShareMetadataResultBlock:
        (
            (_ shareURL: URL, _ shareMetadataResult: Result<CKShare.Metadata, any Error>)
                -> Void
        )?

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var fetchShareMetadataResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var metadataCompletion: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?
    private let errors = ItemErrors()

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that fetches the metadata of the shares that links lead to.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    /// The closure to call with the result for each link.
    @available(*, deprecated, message: "Use perShareMetadataResultBlock")
    open var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)? {
        get { metadataCompletion }
        set { metadataCompletion = newValue }
    }

    /// The closure to call at the end; failed items are reported as one `CKError.partialFailure`.
    @available(*, deprecated, message: "Use fetchShareMetadataResultBlock")
    open var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let urls = shareURLs ?? []
        let results = try await containerRequests.metadata(
            for: urls,
            fetchRoot: shouldFetchRootRecord,
            rootKeys: rootRecordDesiredKeys
        )
        await report {
            for url in urls {
                guard let result = results[url] else { continue }
                self.errors.note(url, result)
                if let perShareMetadataResultBlock = self.perShareMetadataResultBlock {
                    perShareMetadataResultBlock(url, result)
                } else {
                    self.metadataCompletion?(url, result.value, result.error)
                }
            }
        }
    }

    override func conclude(_ error: CKError?) {
        if let fetchShareMetadataResultBlock {
            fetchShareMetadataResultBlock(Result(error))
        } else {
            completion?(errors.summary(error))
        }
    }
}
