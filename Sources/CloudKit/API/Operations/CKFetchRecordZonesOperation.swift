import Foundation

/// An operation that fetches zones: given ones or all.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The zones to fetch.
    open var recordZoneIDs: [CKRecordZone.ID]?

    /// The closure to call with the result for each zone.
    public var perRecordZoneResultBlock:
        (
            (_ recordZoneID: CKRecordZone.ID, _ recordZoneResult: Result<CKRecordZone, any Error>)
                -> Void
        )?

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var fetchRecordZonesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var completion: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var fetched: [CKRecordZone.ID: CKRecordZone] = [:]
    private var fetchesAll = false

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that fetches zones.
    public convenience init(recordZoneIDs zoneIDs: [CKRecordZone.ID]) {
        self.init()
        recordZoneIDs = zoneIDs
    }

    /// Creates an operation that fetches all zones.
    ///
    /// - Important: Called on a subclass, which has initialisers of its own, it ends the process.
    open class func fetchAllRecordZonesOperation() -> Self {
        let made = CKFetchRecordZonesOperation()
        made.fetchesAll = true
        guard let operation = made as? Self else {
            preconditionFailure("fetchAllRecordZonesOperation() cannot create a \(self)")
        }
        return operation
    }

    /// The closure to call at the end, with the fetched zones; failed ones are reported as one
    /// `CKError.partialFailure`.
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
