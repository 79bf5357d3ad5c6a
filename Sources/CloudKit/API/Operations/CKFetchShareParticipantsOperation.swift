import Foundation

/// Finds people to invite.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// What the people are found by.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Is told what became of each person.
    public var perShareParticipantResultBlock:
        (
            (
                _ lookupInfo: CKUserIdentity.LookupInfo,
                _ shareParticipantResult: Result<CKShare.Participant, any Error>
            ) -> Void
        )?

    /// Is told of the end; a failure is one of the whole, not of an item.
    public var fetchShareParticipantsResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var participantFetched: ((CKShare.Participant) -> Void)?
    private var completion: (((any Error)?) -> Void)?
    private let errors = ItemErrors()

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// Is told of each person who was found.
    @available(*, deprecated, message: "Use perShareParticipantResultBlock")
    open var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
        get { participantFetched }
        set { participantFetched = newValue }
    }

    /// Is told of the end; items that failed make a `CKError.partialFailure`.
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
