import Foundation

/// Accepts invitations to shares.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The invitations.
    open var shareMetadatas: [CKShare.Metadata]?

    /// Is told what became of each invitation.
    public var perShareResultBlock:
        ((_ metadata: CKShare.Metadata, _ metadataResult: Result<CKShare, any Error>) -> Void)?

    /// Is told of the end; a failure is one of the whole, not of an item.
    public var acceptSharesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var shareCompletion: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?
    private let errors = ItemErrors()

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(shareMetadatas: [CKShare.Metadata]) {
        self.init()
        self.shareMetadatas = shareMetadatas
    }

    /// Is told what became of each invitation.
    @available(*, deprecated, message: "Use perShareResultBlock")
    open var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)? {
        get { shareCompletion }
        set { shareCompletion = newValue }
    }

    /// Is told of the end; items that failed make a `CKError.partialFailure`.
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
