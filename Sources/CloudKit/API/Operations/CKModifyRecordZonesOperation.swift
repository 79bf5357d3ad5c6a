import Foundation

/// Makes and deletes zones.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The zones to make.
    open var recordZonesToSave: [CKRecordZone]?

    /// The zones to delete with all their records.
    open var recordZoneIDsToDelete: [CKRecordZone.ID]?

    /// Is told what became of each zone to make.
    public var perRecordZoneSaveBlock:
        (
            (_ recordZoneID: CKRecordZone.ID, _ saveResult: Result<CKRecordZone, any Error>)
                -> Void
        )?

    /// Is told what became of each zone to delete.
    public var perRecordZoneDeleteBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ deleteResult: Result<Void, any Error>) -> Void)?

    /// Is told of the end; a failure is one of the whole, not of an item.
    public var modifyRecordZonesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var completion: (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var saved: [CKRecordZone] = []
    private var deleted: [CKRecordZone.ID] = []

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(
        recordZonesToSave: [CKRecordZone]? = nil,
        recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.init()
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    /// Is told of the end with what was made and deleted; items that failed make a
    /// `CKError.partialFailure`.
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
