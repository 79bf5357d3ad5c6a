public import Foundation

/// An operation that fetches the changes in one zone since a token.
@available(*, deprecated, message: "Use CKFetchRecordZoneChangesOperation")
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The zone's ID.
    open var recordZoneID: CKRecordZone.ID?

    /// The token that the last fetch ended with; nil to fetch from the beginning.
    open var previousServerChangeToken: CKServerChangeToken?

    /// The maximum number of records in a page; 0 leaves it to the server.
    open var resultsLimit: Int = 0

    /// The keys of the fields to fetch: nil for all, an empty array for system fields only.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// The closure to call for each new or changed record.
    open var recordChangedBlock: ((CKRecord) -> Void)?

    /// The closure to call for each deleted record.
    open var recordWithIDWasDeletedBlock: ((CKRecord.ID) -> Void)?

    /// The closure to call when the operation ends, with the token of the next fetch.
    open var fetchRecordChangesCompletionBlock:
        ((CKServerChangeToken?, Data?, (any Error)?) -> Void)?

    /// A Boolean value that indicates whether there are more changes; known when the operation has
    /// ended.
    open var moreComing: Bool { isIncomplete }

    private var newest: CKServerChangeToken?
    private var isIncomplete = false

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that fetches a zone's changes since a token.
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
