// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run.
@Suite("Calls of CKModifyRecordsOperation")
struct CKModifyRecordsOperationCalls {
    func saveWithProgress(_ database: CKDatabase, _ records: [CKRecord]) {
        let operation = CKModifyRecordsOperation(recordsToSave: records)
        operation.recordIDsToDelete = records.map(\.recordID)
        operation.savePolicy = .ifServerRecordUnchanged
        operation.perRecordProgressBlock = { print($0.recordID.recordName, $1) }
        operation.perRecordSaveBlock = { recordID, result in
            if case .failure(let error as CKError) = result, let server = error.serverRecord {
                _ = (recordID, server)
            }
        }
        operation.perRecordDeleteBlock = { recordID, result in
            do { try result.get() } catch { _ = (recordID, error) }
        }
        operation.modifyRecordsResultBlock = {
            switch $0 {
            case .success: break
            case .failure(let error): _ = (error as? CKError)?.retryAfterSeconds
            }
        }
        database.add(operation)
    }

    func splitting(_ database: CKDatabase, _ records: [CKRecord]) async throws {
        do {
            _ = try await database.modifyRecords(saving: records, deleting: [])
        } catch let error as CKError where error.code == .limitExceeded {
            let half = records.count / 2
            try await splitting(database, Array(records[..<half]))
            try await splitting(database, Array(records[half...]))
        }
    }

    func wrapped(_ database: CKDatabase, _ records: [CKRecord]) async throws {
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, Error>) in
            let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: nil)
            operation.modifyRecordsResultBlock = { continuation.resume(with: $0) }
            operation.qualityOfService = .userInitiated
            database.add(operation)
        }
    }

    @Test("Defaults are Apple's")
    func defaults() {
        let operation = CKModifyRecordsOperation()
        #expect(operation.savePolicy == .ifServerRecordUnchanged && operation.isAtomic)
        #expect(operation.recordsToSave == nil && operation.recordIDsToDelete == nil)
        #expect(operation.database == nil && operation.clientChangeTokenData == nil)
        let policies: [CKModifyRecordsOperation.RecordSavePolicy] = [
            .ifServerRecordUnchanged, .changedKeys, .allKeys,
        ]
        #expect(policies.map(\.rawValue) == [0, 1, 2])
    }
}
