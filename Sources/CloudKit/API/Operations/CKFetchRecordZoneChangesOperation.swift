public import Foundation

/// An operation that fetches the changes in zones since their tokens, one zone after the other.
///
/// ```swift
/// let operation = CKFetchRecordZoneChangesOperation(
///     recordZoneIDs: [zoneID],
///     configurationsByRecordZoneID: [
///         zoneID: .init(previousServerChangeToken: token)
///     ]
/// )
/// operation.recordWasChangedBlock = { recordID, result in print(recordID, result) }
/// operation.recordWithIDWasDeletedBlock = { recordID, type in print(recordID, type) }
/// operation.recordZoneFetchResultBlock = { zoneID, result in
///     if case .success(let state) = result { print("next time:", state.serverChangeToken) }
/// }
/// database.add(operation)
/// ```
///
/// A token passed to a closure covers every change reported before it, and may be stored
/// immediately, even if the operation fails later.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The options for fetching one zone's changes.
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration

    /// The options for fetching one zone's changes.
    @available(*, deprecated, renamed: "ZoneConfiguration")
    public typealias ZoneOptions = CKFetchRecordZoneChangesOptions

    /// The zones, in the order in which they are fetched.
    open var recordZoneIDs: [CKRecordZone.ID]?

    /// The options for each zone; a zone without an entry is fetched from the beginning.
    open var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?

    /// A Boolean value that indicates whether the operation fetches pages until there are no more
    /// changes.
    open var fetchAllChanges: Bool = true

    /// The closure to call for each new or changed record, in its current version.
    public var recordWasChangedBlock:
        ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?

    /// The closure to call for each deleted record; its type is empty when the service does not
    /// report it.
    public var recordWithIDWasDeletedBlock:
        ((_ recordID: CKRecord.ID, _ recordType: CKRecord.RecordType) -> Void)?

    /// The closure to call after each page but the last, with a token after the zone's reported
    /// changes.
    open var recordZoneChangeTokensUpdatedBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?

    /// The closure to call with the result for each zone, with the token of its next fetch.
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

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var fetchRecordZoneChangesResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var recordChanged: ((CKRecord) -> Void)?
    private var zoneCompletion:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?
    private let errors = ItemErrors()

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that fetches the changes in zones.
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
            let page = try await requests.zoneChangePage(
                in: zoneID,
                since: token,
                desiredKeys: configuration?.desiredKeys,
                limit: configuration?.resultsLimit
            )
            switch page {
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

    private func report(_ page: ZoneRecordsPage) {
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

    private func end(_ zoneID: CKRecordZone.ID, _ page: ZoneRecordsPage) {
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

    /// Creates an operation that fetches the changes in zones.
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

    /// The options for each zone.
    @available(*, deprecated, renamed: "configurationsByRecordZoneID")
    open var optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]? {
        get { configurationsByRecordZoneID?.mapValues { ZoneOptions($0) } }
        set { configurationsByRecordZoneID = newValue?.mapValues(\.configuration) }
    }

    /// The closure to call for each new or changed record.
    @available(*, deprecated, message: "Use recordWasChangedBlock")
    open var recordChangedBlock: ((CKRecord) -> Void)? {
        get { recordChanged }
        set { recordChanged = newValue }
    }

    /// The closure to call with the result for each zone, with the token of its next fetch.
    @available(*, deprecated, message: "Use recordZoneFetchResultBlock")
    open var recordZoneFetchCompletionBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    {
        get { zoneCompletion }
        set { zoneCompletion = newValue }
    }

    /// The closure to call at the end; failed items are reported as one `CKError.partialFailure`.
    @available(*, deprecated, message: "Use fetchRecordZoneChangesResultBlock")
    open var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }
}
