import CloudKit
import Synchronization

/// A minimal delegate: provides records, and counts those that are fetched.
final class BenchmarkDelegate: CKSyncEngineDelegate {
    static let zoneID = CKRecordZone.ID(zoneName: "Rows")

    static func recordIDs(_ count: Int) -> [CKRecord.ID] {
        (0..<count).map { CKRecord.ID(recordName: "row-\($0)", zoneID: zoneID) }
    }

    @Sendable
    static func record(_ recordID: CKRecord.ID) -> CKRecord {
        let record = CKRecord(recordType: "Row", recordID: recordID)
        record["title"] = "A row of some length"
        record["count"] = 42
        record["weight"] = 2.5
        return record
    }

    private let count = Mutex(0)

    /// The number of records fetched.
    var fetched: Int { count.withLock { $0 } }

    func engine(of database: CKDatabase) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: nil,
            delegate: self
        )
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .fetchedRecordZoneChanges(let changes) = event {
            count.withLock { $0 += changes.modifications.count }
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await CKSyncEngine.RecordZoneChangeBatch(
            pendingChanges: syncEngine.state.pendingRecordZoneChanges,
            recordProvider: Self.record
        )
    }
}
