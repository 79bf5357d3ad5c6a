import Foundation

/// An operation that fetches the zones of a database that changed since a token.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The token that the last fetch ended with; nil to fetch from the beginning.
    open var previousServerChangeToken: CKServerChangeToken?

    /// The maximum number of zones in a page; 0 leaves it to the server.
    open var resultsLimit: Int = 0

    /// A Boolean value that indicates whether the operation fetches pages until there are no more
    /// changes.
    open var fetchAllChanges: Bool = true

    /// The closure to call for each new or changed zone, after the page's deleted zones.
    open var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?

    /// The closure to call for each deleted zone.
    open var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?

    /// The closure to call, instead of the one for deletions, for each zone that the user removed
    /// in the settings.
    open var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?

    /// The closure to call, instead of the one for deletions, for each zone whose keys the user
    /// reset.
    open var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock:
        ((CKRecordZone.ID) -> Void)?

    /// The closure to call after each page but the last, with a token after the reported changes.
    open var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?

    /// The closure to call when the operation ends, with the token of the next fetch.
    public var fetchDatabaseChangesResultBlock:
        (
            (
                _ operationResult: Result<
                    (serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error
                >
            ) -> Void
        )?

    private var completion: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
    private var newest: CKServerChangeToken?
    private var moreComing = false

    /// Creates an operation that starts at the beginning.
    public override init() {
        super.init()
    }

    /// Creates an operation that starts where the last fetch ended.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    /// The closure to call when the operation ends, with the token of the next fetch.
    @available(*, deprecated, message: "Use fetchDatabaseChangesResultBlock")
    open var fetchDatabaseChangesCompletionBlock:
        ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        newest = previousServerChangeToken
        repeat {
            let page = try await requests.databaseChanges(since: newest, limit: resultsLimit)
            newest = page.changeToken
            moreComing = page.moreComing
            let goesOn = fetchAllChanges && page.moreComing
            await report {
                // A zone that was deleted and created again is in both.
                for change in page.deletions { self.report(change) }
                for change in page.modifications {
                    self.recordZoneWithIDChangedBlock?(change.zoneID)
                }
                if goesOn { self.changeTokenUpdatedBlock?(page.changeToken) }
            }
        } while fetchAllChanges && moreComing
    }

    private func report(_ deletion: CKDatabase.DatabaseChange.Deletion) {
        let block =
            switch deletion.reason {
            case .deleted: recordZoneWithIDWasDeletedBlock
            case .purged: recordZoneWithIDWasPurgedBlock ?? recordZoneWithIDWasDeletedBlock
            case .encryptedDataReset:
                recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock
                    ?? recordZoneWithIDWasDeletedBlock
            }
        block?(deletion.zoneID)
    }

    override func conclude(_ error: CKError?) {
        if let fetchDatabaseChangesResultBlock {
            if let newest, error == nil {
                fetchDatabaseChangesResultBlock(.success((newest, moreComing)))
            } else {
                fetchDatabaseChangesResultBlock(.failure(error ?? CKError(.internalError)))
            }
        } else {
            completion?(newest, moreComing, error)
        }
    }
}
