import CloudKit
import CloudKitCodable
import Synchronization

/// A source of records in memory that counts the requests.
final class MemorySource: CloudKitRecordSource {
    private let records: Mutex<[CKRecord.ID: CKRecord]>
    private let log = Mutex<[Int]>([])

    init(_ records: some Sequence<CKRecord>) {
        let byID = Dictionary(records.map { ($0.recordID, $0) }) { $1 }
        self.records = Mutex(byID)
    }

    /// The number of identities in each request, in order.
    var requests: [Int] { log.withLock { $0 } }

    /// The number of requests; requests that were split count as one.
    var rounds: Int { requests.count { $0 != 400 } }

    func records(
        withIDs recordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        log.withLock { $0.append(recordIDs.count) }
        return records.withLock { records in
            Dictionary(
                uniqueKeysWithValues: recordIDs.map { recordID in
                    let record = records[recordID]
                    return (
                        recordID, record.map { .success($0) } ?? .failure(CKError(.unknownItem))
                    )
                }
            )
        }
    }

    func records(
        ofType recordType: CKRecord.RecordType,
        referringTo recordIDs: [CKRecord.ID],
        via field: CKRecord.FieldKey
    ) async throws -> [CKRecord] {
        log.withLock { $0.append(recordIDs.count) }
        let owners = Set(recordIDs)
        return records.withLock { records in
            records.values.filter { record in
                let reference: CKRecord.Reference? = record[field]
                return record.recordType == recordType
                    && reference.map { owners.contains($0.recordID) } == true
            }
        }
    }
}
