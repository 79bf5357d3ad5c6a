import Foundation

/// Fetches zones, by identity or all.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The zones to fetch.
    open var recordZoneIDs: [CKRecordZone.ID]?

    /// Is told what became of each zone.
    public var perRecordZoneResultBlock:
        (
            (_ recordZoneID: CKRecordZone.ID, _ recordZoneResult: Result<CKRecordZone, any Error>)
                -> Void
        )?

    /// Is told of the end; a failure is one of the whole, not of an item.
    public var fetchRecordZonesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var completion: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var fetched: [CKRecordZone.ID: CKRecordZone] = [:]
    private var fetchesAll = false

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(recordZoneIDs zoneIDs: [CKRecordZone.ID]) {
        self.init()
        recordZoneIDs = zoneIDs
    }

    /// Makes an operation that fetches all zones.
    ///
    /// - Important: On a subclass, whose initialisers are its own, it ends the process.
    open class func fetchAllRecordZonesOperation() -> Self {
        let made = CKFetchRecordZonesOperation()
        made.fetchesAll = true
        guard let operation = made as? Self else {
            preconditionFailure("fetchAllRecordZonesOperation() makes no \(self)")
        }
        return operation
    }

    /// Is told of the end with what was fetched; items that failed make a `CKError.partialFailure`.
    @available(*, deprecated, message: "Use fetchRecordZonesResultBlock")
    open var fetchRecordZonesCompletionBlock:
        (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        var order = recordZoneIDs ?? []
        var results: DatabaseRequests.ZoneResults = [:]
        if fetchesAll {
            let zones = try await requests.allZones()
            order = zones.map(\.zoneID)
            for zone in zones { results[zone.zoneID] = .success(zone) }
        } else {
            results = try await requests.fetchZones(order)
        }
        await report { [order, results] in
            for zoneID in order { self.report(zoneID, results[zoneID]) }
        }
    }

    private func report(_ zoneID: CKRecordZone.ID, _ result: Result<CKRecordZone, any Error>?) {
        guard let result else { return }
        errors.note(zoneID, result)
        if let zone = result.value { fetched[zoneID] = zone }
        perRecordZoneResultBlock?(zoneID, result)
    }

    override func conclude(_ error: CKError?) {
        if let fetchRecordZonesResultBlock {
            fetchRecordZonesResultBlock(Result(error))
        } else {
            completion?(fetched, errors.summary(error))
        }
    }
}
