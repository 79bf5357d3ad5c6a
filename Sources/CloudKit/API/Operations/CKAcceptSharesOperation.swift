import Foundation

/// An operation that accepts invitations to shares.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The invitations.
    open var shareMetadatas: [CKShare.Metadata]?

    /// The closure to call with the result for each invitation.
    public var perShareResultBlock:
        ((_ metadata: CKShare.Metadata, _ metadataResult: Result<CKShare, any Error>) -> Void)?

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var acceptSharesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var shareCompletion: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?
    private let errors = ItemErrors()

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that accepts invitations.
    public convenience init(shareMetadatas: [CKShare.Metadata]) {
        self.init()
        self.shareMetadatas = shareMetadatas
    }

    /// The closure to call with the result for each invitation.
    @available(*, deprecated, message: "Use perShareResultBlock")
    open var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)? {
        get { shareCompletion }
        set { shareCompletion = newValue }
    }

    /// The closure to call at the end; failed items are reported as one `CKError.partialFailure`.
    @available(*, deprecated, message: "Use acceptSharesResultBlock")
    open var acceptSharesCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let metadatas = shareMetadatas ?? []
        let results = try await containerRequests.accept(metadatas)
        await report {
            for metadata in metadatas {
                guard let result = results[metadata] else { continue }
                self.errors.note(metadata, result)
                if let perShareResultBlock = self.perShareResultBlock {
                    perShareResultBlock(metadata, result)
                } else {
                    self.shareCompletion?(metadata, result.value, result.error)
                }
            }
        }
    }

    override func conclude(_ error: CKError?) {
        if let acceptSharesResultBlock {
            acceptSharesResultBlock(Result(error))
        } else {
            completion?(errors.summary(error))
        }
    }
}
