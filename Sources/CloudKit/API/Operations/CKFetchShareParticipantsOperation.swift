import Foundation

/// An operation that looks up people to invite to a share.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The keys to look people up by.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// The closure to call with the result for each person.
    public var perShareParticipantResultBlock:
        (
            (
                _ lookupInfo: CKUserIdentity.LookupInfo,
                _ shareParticipantResult: Result<CKShare.Participant, any Error>
            ) -> Void
        )?

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var fetchShareParticipantsResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var participantFetched: ((CKShare.Participant) -> Void)?
    private var completion: (((any Error)?) -> Void)?
    private let errors = ItemErrors()

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that looks up people to invite.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// The closure to call for each user who was found.
    @available(*, deprecated, message: "Use perShareParticipantResultBlock")
    open var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
        get { participantFetched }
        set { participantFetched = newValue }
    }

    /// The closure to call at the end; failed items are reported as one `CKError.partialFailure`.
    @available(*, deprecated, message: "Use fetchShareParticipantsResultBlock")
    open var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let infos = userIdentityLookupInfos ?? []
        let results = try await containerRequests.participants(infos)
        await report {
            for info in infos {
                guard let result = results[info] else { continue }
                self.errors.note(info, result)
                if let perShareParticipantResultBlock = self.perShareParticipantResultBlock {
                    perShareParticipantResultBlock(info, result)
                } else if let participant = result.value {
                    self.participantFetched?(participant)
                }
            }
        }
    }

    override func conclude(_ error: CKError?) {
        if let fetchShareParticipantsResultBlock {
            fetchShareParticipantsResultBlock(Result(error))
        } else {
            completion?(errors.summary(error))
        }
    }
}
