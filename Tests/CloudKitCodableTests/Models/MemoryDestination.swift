import CloudKit
import CloudKitCodable
import Synchronization

/// A destination that accepts every record, and counts the requests.
final class MemoryDestination: CloudKitRecordDestination {
    private let log = Mutex<[Int]>([])

    /// The number of items in each request, in order.
    var requests: [Int] { log.withLock { $0 } }

    func modify(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        log.withLock { $0.append(records.count + recordIDs.count) }
        return (
            Dictionary(uniqueKeysWithValues: records.map { ($0.recordID, .success($0)) }),
            Dictionary(uniqueKeysWithValues: recordIDs.map { ($0, .success(())) })
        )
    }
}
