import CloudKit
import CloudKitTesting

/// A cloud with records to be fetched.
struct FullCloud {
    private let device: CKContainer
    private let records: Int

    init(records: Int) async throws {
        let cloud = try await TestCloud()
        device = try await cloud.device(of: try await cloud.addUser("Ada"))
        self.records = records
        try await Self.fill(device.privateCloudDatabase, records: records)
    }

    /// Saves records in batches of the engine's size.
    static func fill(_ database: CKDatabase, records: Int) async throws {
        _ = try await database.save(CKRecordZone(zoneID: BenchmarkDelegate.zoneID))
        let recordIDs = BenchmarkDelegate.recordIDs(records)
        for start in stride(from: 0, to: records, by: 250) {
            let batch = recordIDs[start..<min(start + 250, records)]
            let results = try await database.modifyRecords(
                saving: batch.map(BenchmarkDelegate.record),
                deleting: [],
                atomically: false
            )
            for result in results.saveResults.values { _ = try result.get() }
        }
    }

    func fetchThroughEngine() async throws {
        let delegate = BenchmarkDelegate()
        try await delegate.engine(of: device.privateCloudDatabase).fetchChanges()
        guard delegate.fetched == records else { throw Unequal() }
    }

    func fetchPlainly() async throws {
        let database = device.privateCloudDatabase
        var fetched = 0
        for zone in try await database.databaseChanges(since: nil).modifications {
            var token: CKServerChangeToken?
            var isComplete = false
            while !isComplete {
                let page = try await database.recordZoneChanges(
                    inZoneWith: zone.zoneID,
                    since: token
                )
                fetched += page.modificationResultsByID.count
                token = page.changeToken
                isComplete = !page.moreComing
            }
        }
        guard fetched == records else { throw Unequal() }
    }
}
