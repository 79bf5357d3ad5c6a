import CloudKit
import CloudKitTesting
import Foundation
import Support
import Synchronization
import Testing

/// Collects the reports of operations, in order.
final class Log: Sendable {
    private let entries = Mutex<[String]>([])

    var all: [String] { entries.withLock { $0 } }

    func note(_ entry: String) {
        entries.withLock { $0.append(entry) }
    }
}

/// Runs operations and waits for all of them.
func finish(_ operations: [CKDatabaseOperation], on database: CKDatabase) async {
    await withCheckedContinuation { continuation in
        let end = BlockOperation { continuation.resume() }
        for operation in operations { end.addDependency(operation) }
        for operation in operations { database.add(operation) }
        OperationQueue().addOperation(end)
    }
}

@Suite("Operations")
struct OperationTests {
    static let zone = CKRecordZone(zoneName: "Notes")

    private func note(_ name: String) -> CKRecord {
        let record = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
        )
        record["title"] = name
        return record
    }

    @Test(
        "Blocks of items come before the block of the whole, and that before completionBlock",
        arguments: CloudFixture.allCases
    )
    func order(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(Self.zone)
            let log = Log()
            let operation = CKModifyRecordsOperation(
                recordsToSave: [note("a"), note("b")],
                recordIDsToDelete: []
            )
            operation.perRecordSaveBlock = { recordID, result in
                #expect(!Thread.isMainThread)
                log.note("save \(recordID.recordName) \((try? result.get()) != nil)")
            }
            operation.modifyRecordsResultBlock = { _ in log.note("result") }
            await withCheckedContinuation { continuation in
                operation.completionBlock = {
                    log.note("completion")
                    continuation.resume()
                }
                database.add(operation)
            }
            #expect(log.all == ["save a true", "save b true", "result", "completion"])
            #expect(operation.isFinished && !operation.isExecuting)
        }
    }

    @Test(
        "A dependent operation starts when the one before it has ended",
        arguments: CloudFixture.allCases
    )
    func dependencies(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let log = Log()
            let zones = CKModifyRecordZonesOperation(recordZonesToSave: [Self.zone])
            zones.modifyRecordZonesResultBlock = { _ in log.note("zone") }
            let records = CKModifyRecordsOperation(recordsToSave: [note("a")])
            records.modifyRecordsResultBlock = { result in
                log.note("record \((try? result.get()) != nil)")
            }
            records.addDependency(zones)
            await finish([records, zones], on: database)
            #expect(log.all == ["zone", "record true"])
        }
    }

    @Test(
        "An operation that was cancelled before its start ends with operationCancelled",
        arguments: CloudFixture.allCases
    )
    func cancellation(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let log = Log()
            let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
            operation.perRecordResultBlock = { _, _ in log.note("item") }
            operation.fetchRecordsResultBlock = { result in
                guard case .failure(let error as CKError) = result else { return }
                log.note("\(error.code)")
            }
            operation.cancel()
            await finish([operation], on: database)
            #expect(log.all == ["operationCancelled"])
        }
    }

    @Test(
        "Items that fail leave the operation successful, and make a partialFailure of old blocks",
        arguments: CloudFixture.allCases
    )
    func partialFailure(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let missing = CKRecord.ID(recordName: "missing")
            let log = Log()
            let new = CKFetchRecordsOperation(recordIDs: [missing])
            new.perRecordResultBlock = { recordID, result in
                guard case .failure(let error as CKError) = result else { return }
                log.note("\(recordID.recordName) \(error.code)")
            }
            new.fetchRecordsResultBlock = { result in
                log.note((try? result.get()) != nil ? "success" : "failure")
            }
            await finish([new], on: database)
            #expect(log.all == ["missing unknownItem", "success"])
            try await oldBlocks(database, missing)
        }
    }

    @available(*, deprecated)
    private func oldFetch(_ recordID: CKRecord.ID, _ log: Log) -> CKFetchRecordsOperation {
        let operation = CKFetchRecordsOperation(recordIDs: [recordID])
        operation.fetchRecordsCompletionBlock = { records, error in
            let error = error as? CKError
            log.note("\(records?.count ?? -1) \(error.map { "\($0.code)" } ?? "")")
            let item = error?.partialErrorsByItemID?[recordID] as? CKError
            log.note(item.map { "\($0.code)" } ?? "none")
        }
        return operation
    }

    private func oldBlocks(_ database: CKDatabase, _ recordID: CKRecord.ID) async throws {
        let log = Log()
        let maker: any OldBlocks = self
        await finish([maker.make(recordID, log)], on: database)
        #expect(log.all == ["0 partialFailure", "unknownItem"])
    }

    @Test(
        "A zone's changes come page by page with tokens between, and the last with the result",
        arguments: CloudFixture.allCases
    )
    func zoneChanges(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(Self.zone)
            _ = try await database.modifyRecords(
                saving: (0..<5).map { note("n\($0)") },
                deleting: []
            )
            let log = Log()
            let zoneID = Self.zone.zoneID
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [zoneID, CKRecordZone.ID(zoneName: "Missing")],
                configurationsByRecordZoneID: [zoneID: .init(resultsLimit: 2)]
            )
            operation.recordWasChangedBlock = { recordID, _ in log.note(recordID.recordName) }
            operation.recordZoneChangeTokensUpdatedBlock = { _, token, _ in
                log.note(token == nil ? "no token" : "token")
            }
            operation.recordZoneFetchResultBlock = { zoneID, result in
                switch result {
                case .success(let end): log.note("\(zoneID.zoneName) \(end.moreComing)")
                case .failure(let error as CKError): log.note("\(zoneID.zoneName) \(error.code)")
                case .failure: log.note("?")
                }
            }
            operation.fetchRecordZoneChangesResultBlock = { result in
                log.note((try? result.get()) != nil ? "success" : "failure")
            }
            await finish([operation], on: database)
            #expect(
                log.all == [
                    "n0", "n1", "token", "n2", "n3", "token", "n4", "Notes false",
                    "Missing zoneNotFound", "success",
                ]
            )
        }
    }

    @Test("An operation's own settings win over its group's, and those over the defaults")
    func configuration() {
        let operation = CKFetchRecordsOperation()
        #expect(operation.qualityOfService == .default)
        let group = CKOperationGroup()
        group.defaultConfiguration.qualityOfService = .utility
        operation.group = group
        #expect(operation.qualityOfService == .utility)
        operation.configuration.qualityOfService = .userInitiated
        #expect(operation.qualityOfService == .userInitiated)
        operation.configuration = nil
        #expect(operation.qualityOfService == .utility)
        #expect(operation.configuration.timeoutIntervalForRequest == 60)
    }
}

/// Calls deprecated blocks without the warning: a witness may be deprecated.
protocol OldBlocks {
    func make(_ recordID: CKRecord.ID, _ log: Log) -> CKFetchRecordsOperation
}

extension OperationTests: OldBlocks {
    @available(*, deprecated)
    func make(_ recordID: CKRecord.ID, _ log: Log) -> CKFetchRecordsOperation {
        oldFetch(recordID, log)
    }
}
