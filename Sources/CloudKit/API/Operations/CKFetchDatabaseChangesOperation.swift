import Foundation

/// Fetches which zones of a database changed since a token.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// Where the last fetch ended; nil stands for the beginning.
    open var previousServerChangeToken: CKServerChangeToken?

    /// Zones of one page; 0 leaves it to the server.
    open var resultsLimit: Int = 0

    /// Whether the operation goes on until there are no more changes.
    open var fetchAllChanges: Bool = true

    /// Is told of each zone that is new or has changed, after the zones of the page that are gone.
    open var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?

    /// Is told of each zone that is gone.
    open var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?

    /// Is told, instead of the block for deletions, of each zone that the user removed in the
    /// settings.
    open var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?

    /// Is told, instead of the block for deletions, of each zone whose keys the user reset.
    open var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock:
        ((CKRecordZone.ID) -> Void)?

    /// Is told, after each page but the last, up to where everything was reported.
    open var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?

    /// Is told of the end, with the token of the next fetch.
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

    /// Makes an operation that starts at the beginning.
    public override init() {
        super.init()
    }

    /// Makes an operation that starts where the last fetch ended.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    /// Is told of the end, with the token of the next fetch.
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
                // A zone that ended and came back is in both.
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
