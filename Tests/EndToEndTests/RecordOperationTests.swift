import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Operations for records and zones, run against a service", .timeLimit(.minutes(10)))
struct RecordOperationTests: OperationContract {
    private static let missing = CKRecordZone.ID(zoneName: "Missing")
    private var blocks: any OldBlocksOfRecords { BlocksOfOld() }

    private func record(_ name: String) -> CKRecord {
        let recordID = CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
        return CKRecord(recordType: "Item", recordID: recordID)
    }

    /// Runs a test on a database with a zone that holds a record.
    private func run(
        _ fixture: CloudFixture,
        _ body: @Sendable (CKDatabase) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(Self.zone)
            try await database.save(record("old"))
            try await body(database)
        }
    }

    // MARK: Records

    @Test(
        "Old blocks of a save get each record, what was done, and a partialFailure by record",
        arguments: CloudFixture.allCases
    )
    func oldModify(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            try await database.save(record("taken"))
            let log = Log()
            let operation = blocks.modify(
                [record("new"), record("taken")],
                deleting: record("old").recordID,
                failing: record("taken").recordID,
                log
            )
            await run(operation, on: database, log)
            #expect(
                log.all == [
                    "item new none", "item taken serverRecordChanged", "saved new", "deleted old",
                    "partialFailure 1 serverRecordChanged", "completion",
                ]
            )
        }
    }

    @Test(
        "Where the new block of a record is set, the old one is not called",
        arguments: CloudFixture.allCases
    )
    func bothBlocks(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let log = Log()
            let operation = blocks.modify(
                [record("new")],
                deleting: record("old").recordID,
                failing: record("new").recordID,
                log
            )
            operation.perRecordSaveBlock = { recordID, result in
                log.note("save \(recordID.recordName) \(word(result))")
            }
            operation.perRecordDeleteBlock = { recordID, result in
                log.note("delete \(recordID.recordName) \(word(result))")
            }
            operation.modifyRecordsResultBlock = { log.note("result \(word($0))") }
            await run(operation, on: database, log)
            #expect(log.all == ["save new ok", "delete old ok", "result ok", "completion"])
        }
    }

    @Test(
        "Old blocks of a query get the records in order, and its end",
        arguments: CloudFixture.allCases
    )
    func oldQuery(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let all = NSPredicate(value: true)
            for (type, expected) in [
                ("Item", ["item old", "end false none"]), ("Nobody", ["end false unknownItem"]),
            ] {
                let log = Log()
                let query = CKQuery(recordType: type, predicate: all)
                await run(blocks.query(query, in: Self.zone.zoneID, log), on: database, log)
                #expect(log.all == expected + ["completion"])
            }
        }
    }

    // MARK: Zones

    @Test(
        "Zones are saved and deleted before the result, and a bad one fails alone",
        arguments: CloudFixture.allCases
    )
    func modifyZones(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let zones = ["New", "_bad"].map { CKRecordZone(zoneName: $0) }
            let log = Log()
            let operation = CKModifyRecordZonesOperation(
                recordZonesToSave: zones,
                recordZoneIDsToDelete: [Self.zone.zoneID]
            )
            operation.perRecordZoneSaveBlock = { log.note("save \($0.zoneName) \(word($1))") }
            operation.perRecordZoneDeleteBlock = { log.note("delete \($0.zoneName) \(word($1))") }
            operation.modifyRecordZonesResultBlock = { log.note("result \(word($0))") }
            await run(operation, on: database, log)
            #expect(
                log.all == [
                    "save New ok", "save _bad invalidArguments", "delete Lists ok", "result ok",
                    "completion",
                ]
            )

            let oldLog = Log()
            let old = blocks.modify(
                zones,
                deleting: Self.missing,
                failing: zones[1].zoneID,
                oldLog
            )
            await run(old, on: database, oldLog)
            #expect(
                oldLog.all == [
                    "saved New", "deleted Missing", "partialFailure 1 invalidArguments",
                    "completion",
                ]
            )
        }
    }

    @Test(
        "Zones are fetched before the result, and a missing one fails alone",
        arguments: CloudFixture.allCases
    )
    func fetchZones(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let zoneIDs = [Self.missing, Self.zone.zoneID]
            let log = Log()
            let operation = CKFetchRecordZonesOperation(recordZoneIDs: zoneIDs)
            operation.perRecordZoneResultBlock = { log.note("\($0.zoneName) \(word($1))") }
            operation.fetchRecordZonesResultBlock = { log.note("result \(word($0))") }
            await run(operation, on: database, log)
            #expect(
                log.all == ["Missing zoneNotFound", "Lists ok", "result ok", "completion"]
            )

            let oldLog = Log()
            let old = blocks.zones(zoneIDs, missing: Self.missing, oldLog)
            await run(old, on: database, oldLog)
            #expect(
                oldLog.all == ["fetched Lists", "partialFailure 1 zoneNotFound", "completion"]
            )
        }
    }

    @Test(
        "Old blocks of changes get each record and zone, and a partialFailure by zone",
        arguments: CloudFixture.allCases
    )
    func oldZoneChanges(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let log = Log()
            let operation = blocks.changes(
                [Self.zone.zoneID, Self.missing],
                missing: Self.missing,
                log
            )
            await run(operation, on: database, log)
            #expect(
                log.all == [
                    "changed old", "Lists true false none", "Missing false false zoneNotFound",
                    "partialFailure 1 zoneNotFound", "completion",
                ]
            )
        }
    }
}

/// Creates operations with deprecated blocks, without the warning: a witness may be deprecated.
private protocol OldBlocksOfRecords {
    func modify(
        _ records: [CKRecord],
        deleting recordID: CKRecord.ID,
        failing: CKRecord.ID,
        _ log: Log
    ) -> CKModifyRecordsOperation
    func query(
        _ query: CKQuery,
        in zoneID: CKRecordZone.ID,
        _ log: Log
    ) -> CKDatabaseOperation
    func modify(
        _ zones: [CKRecordZone],
        deleting zoneID: CKRecordZone.ID,
        failing: CKRecordZone.ID,
        _ log: Log
    ) -> CKDatabaseOperation
    func zones(
        _ zoneIDs: [CKRecordZone.ID],
        missing: CKRecordZone.ID,
        _ log: Log
    ) -> CKDatabaseOperation
    func changes(
        _ zoneIDs: [CKRecordZone.ID],
        missing: CKRecordZone.ID,
        _ log: Log
    ) -> CKDatabaseOperation
}

private struct BlocksOfOld: OldBlocksOfRecords, OperationContract {
    @available(*, deprecated)
    func modify(
        _ records: [CKRecord],
        deleting recordID: CKRecord.ID,
        failing: CKRecord.ID,
        _ log: Log
    ) -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(
            recordsToSave: records,
            recordIDsToDelete: [recordID]
        )
        operation.isAtomic = false
        operation.perRecordCompletionBlock = { record, error in
            log.note("item \(record.recordID.recordName) \(code(error))")
        }
        operation.modifyRecordsCompletionBlock = { saved, deleted, error in
            for record in saved ?? [] { log.note("saved \(record.recordID.recordName)") }
            for recordID in deleted ?? [] { log.note("deleted \(recordID.recordName)") }
            log.note(codes(error, of: failing))
        }
        return operation
    }

    @available(*, deprecated)
    func query(
        _ query: CKQuery,
        in zoneID: CKRecordZone.ID,
        _ log: Log
    ) -> CKDatabaseOperation {
        let operation = CKQueryOperation(query: query)
        operation.zoneID = zoneID
        operation.recordFetchedBlock = { log.note("item \($0.recordID.recordName)") }
        operation.queryCompletionBlock = { cursor, error in
            log.note("end \(cursor != nil) \(code(error))")
        }
        return operation
    }

    @available(*, deprecated)
    func modify(
        _ zones: [CKRecordZone],
        deleting zoneID: CKRecordZone.ID,
        failing: CKRecordZone.ID,
        _ log: Log
    ) -> CKDatabaseOperation {
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: zones,
            recordZoneIDsToDelete: [zoneID]
        )
        operation.modifyRecordZonesCompletionBlock = { saved, deleted, error in
            for zone in saved ?? [] { log.note("saved \(zone.zoneID.zoneName)") }
            for zoneID in deleted ?? [] { log.note("deleted \(zoneID.zoneName)") }
            log.note(codes(error, of: failing))
        }
        return operation
    }

    @available(*, deprecated)
    func zones(
        _ zoneIDs: [CKRecordZone.ID],
        missing: CKRecordZone.ID,
        _ log: Log
    ) -> CKDatabaseOperation {
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: zoneIDs)
        operation.fetchRecordZonesCompletionBlock = { zones, error in
            for zoneID in (zones ?? [:]).keys { log.note("fetched \(zoneID.zoneName)") }
            log.note(codes(error, of: missing))
        }
        return operation
    }

    @available(*, deprecated)
    func changes(
        _ zoneIDs: [CKRecordZone.ID],
        missing: CKRecordZone.ID,
        _ log: Log
    ) -> CKDatabaseOperation {
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: zoneIDs,
            optionsByRecordZoneID: nil
        )
        operation.recordChangedBlock = { log.note("changed \($0.recordID.recordName)") }
        operation.recordZoneFetchCompletionBlock = { zoneID, token, _, moreComing, error in
            log.note("\(zoneID.zoneName) \(token != nil) \(moreComing) \(code(error))")
        }
        operation.fetchRecordZoneChangesCompletionBlock = { log.note(codes($0, of: missing)) }
        return operation
    }
}
