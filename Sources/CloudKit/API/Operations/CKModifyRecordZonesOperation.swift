import Foundation

/// An operation that creates and deletes zones.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The zones to create.
    open var recordZonesToSave: [CKRecordZone]?

    /// The zones to delete with all their records.
    open var recordZoneIDsToDelete: [CKRecordZone.ID]?

    /// The closure to call with the result for each zone to create.
    public var perRecordZoneSaveBlock:
        (
            (_ recordZoneID: CKRecordZone.ID, _ saveResult: Result<CKRecordZone, any Error>)
                -> Void
        )?

    /// The closure to call with the result for each zone to delete.
    public var perRecordZoneDeleteBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ deleteResult: Result<Void, any Error>) -> Void)?

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var modifyRecordZonesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var completion: (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var saved: [CKRecordZone] = []
    private var deleted: [CKRecordZone.ID] = []

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that creates and deletes zones.
    public convenience init(
        recordZonesToSave: [CKRecordZone]? = nil,
        recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.init()
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    /// The closure to call at the end, with the created and deleted zones; failed ones are reported
    /// as one `CKError.partialFailure`.
    @available(*, deprecated, message: "Use modifyRecordZonesResultBlock")
    open var modifyRecordZonesCompletionBlock:
        (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let zones = recordZonesToSave ?? []
        let zoneIDs = recordZoneIDsToDelete ?? []
        let results = try await requests.modifyZones(saving: zones, deleting: zoneIDs)
        await report {
            for zone in zones { self.report(zone.zoneID, results.saveResults[zone.zoneID]) }
            for zoneID in zoneIDs { self.report(zoneID, results.deleteResults[zoneID]) }
        }
    }

    private func report(_ zoneID: CKRecordZone.ID, _ result: Result<CKRecordZone, any Error>?) {
        guard let result else { return }
        errors.note(zoneID, result)
        if let zone = result.value { saved.append(zone) }
        perRecordZoneSaveBlock?(zoneID, result)
    }

    private func report(_ zoneID: CKRecordZone.ID, _ result: Result<Void, any Error>?) {
        guard let result else { return }
        errors.note(zoneID, result)
        if result.error == nil { deleted.append(zoneID) }
        perRecordZoneDeleteBlock?(zoneID, result)
    }

    override func conclude(_ error: CKError?) {
        if let modifyRecordZonesResultBlock {
            modifyRecordZonesResultBlock(Result(error))
        } else {
            completion?(saved, deleted, errors.summary(error))
        }
    }
}
