public import Foundation

/// Fetches what changed in one zone since a token.
@available(*, deprecated, message: "Use CKFetchRecordZoneChangesOperation")
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The zone.
    open var recordZoneID: CKRecordZone.ID?

    /// Where the last fetch ended; nil stands for the beginning.
    open var previousServerChangeToken: CKServerChangeToken?

    /// Records of the page; 0 leaves it to the server.
    open var resultsLimit: Int = 0

    /// The fields to fetch: nil for all, none for system fields only.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Is told of each record that is new or has changed.
    open var recordChangedBlock: ((CKRecord) -> Void)?

    /// Is told of each record that is gone.
    open var recordWithIDWasDeletedBlock: ((CKRecord.ID) -> Void)?

    /// Is told of the end, with the token of the next fetch.
    open var fetchRecordChangesCompletionBlock:
        ((CKServerChangeToken?, Data?, (any Error)?) -> Void)?

    /// Whether there are more changes now; known when the operation has ended.
    open var moreComing: Bool { isIncomplete }

    private var newest: CKServerChangeToken?
    private var isIncomplete = false

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(
        recordZoneID: CKRecordZone.ID,
        previousServerChangeToken: CKServerChangeToken?
    ) {
        self.init()
        self.recordZoneID = recordZoneID
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func perform() async throws(CKError) {
        guard let recordZoneID else {
            throw CKError(
                .invalidArguments,
                message: "CKFetchRecordChangesOperation has no recordZoneID"
            )
        }
        let page = try await requests.zoneChangePage(
            in: recordZoneID,
            since: previousServerChangeToken,
            desiredKeys: desiredKeys,
            limit: resultsLimit
        ).get()
        newest = page.token
        isIncomplete = page.moreComing
        await report {
            for (_, result) in page.changed {
                if let record = result.value { self.recordChangedBlock?(record) }
            }
            for deletion in page.deleted { self.recordWithIDWasDeletedBlock?(deletion.recordID) }
        }
    }

    override func conclude(_ error: CKError?) {
        fetchRecordChangesCompletionBlock?(newest, nil, error)
    }
}
