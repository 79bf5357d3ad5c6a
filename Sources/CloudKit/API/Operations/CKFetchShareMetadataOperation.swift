public import Foundation

/// Says what links to shares stand for.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The links.
    open var shareURLs: [URL]?

    /// Whether the shared records are fetched too.
    open var shouldFetchRootRecord: Bool = false

    /// The fields of the shared records; nil for all.
    public var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// Is told what became of each link.
    public var perShareMetadataResultBlock:
        (
            (_ shareURL: URL, _ shareMetadataResult: Result<CKShare.Metadata, any Error>)
                -> Void
        )?

    /// Is told of the end; a failure is one of the whole, not of an item.
    public var fetchShareMetadataResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var metadataCompletion: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?
    private let errors = ItemErrors()

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    /// Is told what became of each link.
    @available(*, deprecated, message: "Use perShareMetadataResultBlock")
    open var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)? {
        get { metadataCompletion }
        set { metadataCompletion = newValue }
    }

    /// Is told of the end; items that failed make a `CKError.partialFailure`.
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
