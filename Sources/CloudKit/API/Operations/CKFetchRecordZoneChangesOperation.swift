public import Foundation

/// Fetches what changed in zones since their tokens, one zone after the other.
///
/// A token that a block is given stands for everything reported before it, and may be kept at once,
/// even if the operation fails later.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// What is fetched of one zone's changes.
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration

    /// What is fetched of one zone's changes.
    @available(*, deprecated, renamed: "ZoneConfiguration")
    public typealias ZoneOptions = CKFetchRecordZoneChangesOptions

    /// The zones, in the order in which they are fetched.
    open var recordZoneIDs: [CKRecordZone.ID]?

    /// What is fetched of each zone; a zone without an entry is fetched from the beginning.
    open var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?

    /// Whether the operation goes on until there are no more changes.
    open var fetchAllChanges: Bool = true

    /// Is told of each record that is new or has changed, in its latest state.
    public var recordWasChangedBlock:
        ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?

    /// Is told of each record that is gone; the type is empty where the service does not say it.
    public var recordWithIDWasDeletedBlock:
        ((_ recordID: CKRecord.ID, _ recordType: CKRecord.RecordType) -> Void)?

    /// Is told, after each page but the last, up to where a zone's changes were reported.
    open var recordZoneChangeTokensUpdatedBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?

    /// Is told what became of each zone, with the token of its next fetch.
    public var recordZoneFetchResultBlock:
        (
            (
                _ recordZoneID: CKRecordZone.ID,
                _ fetchChangesResult: Result<
                    (
                        serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?,
                        moreComing: Bool
                    ), any Error
                >
            ) -> Void
        )?

    /// Is told of the end; a failure is one of the whole, not of a zone.
    public var fetchRecordZoneChangesResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var recordChanged: ((CKRecord) -> Void)?
    private var zoneCompletion:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?
    private let errors = ItemErrors()

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    override func perform() async throws(CKError) {
        for zoneID in recordZoneIDs ?? configurationsByRecordZoneID.map({ Array($0.keys) }) ?? [] {
            try await fetch(zoneID)
        }
    }

    private func fetch(_ zoneID: CKRecordZone.ID) async throws(CKError) {
        let configuration = configurationsByRecordZoneID?[zoneID]
        var token = configuration?.previousServerChangeToken
        while true {
            let answer = try await requests.zoneChangePage(
                in: zoneID,
                since: token,
                desiredKeys: configuration?.desiredKeys,
                limit: configuration?.resultsLimit
            )
            switch answer {
            case .failure(let error):
                errors.note(zoneID, Result<Void, any Error>.failure(error))
                await report { [token] in self.end(zoneID, token: token, error: error) }
                return
            case .success(let page):
                token = page.token
                let goesOn = fetchAllChanges && page.moreComing
                await report {
                    self.report(page)
                    if goesOn {
                        self.recordZoneChangeTokensUpdatedBlock?(zoneID, page.token, nil)
                    } else {
                        self.end(zoneID, page)
                    }
                }
                if !goesOn { return }
            }
        }
    }

    private func report(_ page: ZoneChangePage) {
        for (recordID, result) in page.changed {
            errors.note(recordID, result)
            if let recordWasChangedBlock {
                recordWasChangedBlock(recordID, result)
            } else if let record = result.value {
                recordChanged?(record)
            }
        }
        for deletion in page.deleted {
            recordWithIDWasDeletedBlock?(deletion.recordID, deletion.recordType)
        }
    }

    private func end(_ zoneID: CKRecordZone.ID, _ page: ZoneChangePage) {
        if let recordZoneFetchResultBlock {
            recordZoneFetchResultBlock(zoneID, .success((page.token, nil, page.moreComing)))
        } else {
            zoneCompletion?(zoneID, page.token, nil, page.moreComing, nil)
        }
    }

    private func end(_ zoneID: CKRecordZone.ID, token: CKServerChangeToken?, error: CKError) {
        if let recordZoneFetchResultBlock {
            recordZoneFetchResultBlock(zoneID, .failure(error))
        } else {
            zoneCompletion?(zoneID, token, nil, false, error)
        }
    }

    override func conclude(_ error: CKError?) {
        if let fetchRecordZoneChangesResultBlock {
            fetchRecordZoneChangesResultBlock(Result(error))
        } else {
            completion?(errors.summary(error))
        }
    }

    // MARK: Deprecated

    /// Makes an operation.
    @available(*, deprecated, message: "Use init(recordZoneIDs:configurationsByRecordZoneID:)")
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID],
        optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]?
    ) {
        self.init(
            recordZoneIDs: recordZoneIDs,
            configurationsByRecordZoneID: optionsByRecordZoneID?.mapValues(\.configuration)
        )
    }

    /// What is fetched of each zone.
    @available(*, deprecated, renamed: "configurationsByRecordZoneID")
    open var optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]? {
        get { configurationsByRecordZoneID?.mapValues { ZoneOptions($0) } }
        set { configurationsByRecordZoneID = newValue?.mapValues(\.configuration) }
    }

    /// Is told of each record that is new or has changed.
    @available(*, deprecated, message: "Use recordWasChangedBlock")
    open var recordChangedBlock: ((CKRecord) -> Void)? {
        get { recordChanged }
        set { recordChanged = newValue }
    }

    /// Is told what became of each zone, with the token of its next fetch.
    @available(*, deprecated, message: "Use recordZoneFetchResultBlock")
    open var recordZoneFetchCompletionBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    {
        get { zoneCompletion }
        set { zoneCompletion = newValue }
    }

    /// Is told of the end; items that failed make a `CKError.partialFailure`.
    @available(*, deprecated, message: "Use fetchRecordZoneChangesResultBlock")
    open var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }
}
