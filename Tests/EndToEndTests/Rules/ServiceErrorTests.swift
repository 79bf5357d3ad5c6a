import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Testing

/// The codes that a service returns for reasons of its own: load, limits and time.
@Suite("Error codes of the service itself")
struct ServiceErrorTests {
    private let recordID = CKRecord.ID(recordName: "n")

    private func note(_ name: String = "n", bytes: Int = 0) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        if bytes > 0 { record["text"] = String(repeating: "x", count: bytes) }
        return record
    }

    /// Faults are for one test; a cloud does not need them at its end.
    private func plan(_ rules: FaultRule...) -> FaultPlan { FaultPlan(rules: rules) }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let code: ServerErrorCode
        let native: CKError.Code
        var testDescription: String { code.rawValue }
    }

    static let refusals: [Refusal] = [
        Refusal(code: .accessDenied, native: .permissionFailure),
        Refusal(code: .atomicError, native: .batchRequestFailed),
        Refusal(code: .authenticationFailed, native: .notAuthenticated),
        Refusal(code: .authenticationRequired, native: .notAuthenticated),
        Refusal(code: .badRequest, native: .invalidArguments),
        Refusal(code: .exists, native: .constraintViolation),
        Refusal(code: .internalError, native: .internalError),
        Refusal(code: .quotaExceeded, native: .quotaExceeded),
        Refusal(code: .throttled, native: .requestRateLimited),
        Refusal(code: .tryAgainLater, native: .serviceUnavailable),
        Refusal(code: .uniqueFieldError, native: .constraintViolation),
        Refusal(code: .validatingReferenceError, native: .referenceViolation),
        Refusal(code: .zoneBusy, native: .zoneBusy),
        Refusal(code: .zoneNotFound, native: .zoneNotFound),
    ]

    @Test(
        "A request that the service refuses stores nothing, says when to return, and is good then",
        arguments: CloudFixture.allCases,
        refusals
    )
    func request(_ fixture: CloudFixture, _ refusal: Refusal) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            cloud.setFaults(
                plan(
                    FaultRule(
                        .error(refusal.code, reason: "on purpose", retryAfter: 2),
                        operation: "records/modify",
                        call: 1
                    )
                )
            )
            let record = note()
            let error = await expectCKError(refusal.native) { try await database.save(record) }
            #expect(error?.retryAfterSeconds == 2)
            #expect(error?.localizedDescription.contains("on purpose") == true)
            #expect(record.recordChangeTag == nil)
            await expectCKError(.unknownItem) { try await database.record(for: recordID) }
            try await database.save(record)
            #expect(record.recordChangeTag != nil)
        }
    }

    @Test(
        "One item that the service refuses is that item's error, and the others are saved",
        arguments: CloudFixture.allCases,
        refusals
    )
    func item(_ fixture: CloudFixture, _ refusal: Refusal) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            cloud.setFaults(
                plan(
                    FaultRule(
                        .itemError(refusal.code, item: 1, reason: "on purpose"),
                        operation: "records/modify",
                        call: 1
                    )
                )
            )
            let records = ["a", "b", "c"].map { note($0) }
            let (results, _) = try await database.modifyRecords(saving: records, deleting: [])
            let error = await expectCKError(refusal.native) {
                try #require(results[records[1].recordID]).get()
            }
            #expect(error?.localizedDescription.contains("on purpose") == true)
            for record in [records[0], records[2]] {
                _ = try #require(results[record.recordID]).get()
            }
        }
    }

    // MARK: Limits

    @Test(
        "A user's quota: quotaExceeded for records and files, with what there is room for",
        arguments: CloudFixture.allCases
    )
    func quota(_ fixture: CloudFixture) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(count: 1_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let configuration = ServiceConfiguration(userQuotaBytes: 10_000)
        try await fixture.run(configuration: configuration) { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let first = try await database.save(note("a", bytes: 9_000))
            let error = await expectCKError(.quotaExceeded) {
                try await database.save(note("b", bytes: 2_000))
            }
            #expect(error?.localizedDescription.contains("delete something") == true)
            let photo = note("photo")
            photo["file"] = CKAsset(fileURL: file)
            await expectCKError(.quotaExceeded) { try await database.save(photo) }

            // An operation reports it for each item, and saves the items that fit.
            let (results, _) = try await database.modifyRecords(
                saving: [note("c", bytes: 500), note("d", bytes: 5_000)],
                deleting: []
            )
            _ = try #require(results[CKRecord.ID(recordName: "c")]).get()
            await expectCKError(.quotaExceeded) {
                try #require(results[CKRecord.ID(recordName: "d")]).get()
            }
            // A deletion frees space.
            try await database.deleteRecord(withID: first.recordID)
            try await database.save(note("b", bytes: 2_000))
            try await database.save(photo)
        }
    }

    @Test(
        "Too many requests: requestRateLimited with the time to wait, after which they are taken",
        arguments: CloudFixture.allCases
    )
    func rate(_ fixture: CloudFixture) async throws {
        let configuration = ServiceConfiguration(requestRate: .init(burst: 20, perSecond: 0.001))
        try await fixture.run(configuration: configuration) { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            var refused: CKError?
            for _ in 0..<40 where refused == nil {
                do {
                    _ = try await database.allRecordZones()
                } catch let error as CKError {
                    refused = error
                }
            }
            #expect(refused?.code == .requestRateLimited)
            let wait = try #require(refused?.retryAfterSeconds)
            #expect(wait > 100)
            cloud.advance(by: .seconds(wait + 1))
            _ = try await database.allRecordZones()
        }
    }

    // MARK: Time

    @Test(
        "Tokens that grew too old: changeTokenExpired for databases and zones; nil starts again",
        arguments: CloudFixture.allCases
    )
    func changeTokens(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
            let ofZone = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
                .changeToken
            let ofDatabase = try await database.databaseChanges(since: nil).changeToken
            cloud.setFaults(plan(FaultRule(.expiredChangeTokens, call: 1)))
            await expectCKError(.changeTokenExpired) {
                try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: ofZone)
            }
            await expectCKError(.changeTokenExpired) {
                try await database.databaseChanges(since: ofDatabase)
            }
            _ = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
            let all = try await database.databaseChanges(since: nil)
            #expect(all.modifications.contains { $0.zoneID == zone.zoneID })
        }
    }

    @Test("A session that has ended: notAuthenticated", arguments: CloudFixture.allCases)
    func session(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            _ = try await database.allRecordZones()
            cloud.setFaults(plan(FaultRule(.expiredWebToken, call: 1)))
            for _ in 1...2 {
                await expectCKError(.notAuthenticated) { try await database.allRecordZones() }
            }
        }
    }

    @Test(
        "A version that another device made meanwhile: serverRecordChanged with three records",
        arguments: CloudFixture.allCases
    )
    func staleTag(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = note(bytes: 3)
            try await database.save(record)
            cloud.setFaults(plan(FaultRule(.staleTags, operation: "records/modify", call: 1)))
            record["text"] = "mine"
            let error = await expectCKError(.serverRecordChanged) {
                try await database.save(record)
            }
            let server = try #require(error?.serverRecord)
            #expect(server["text"] == "xxx" && server.recordChangeTag != record.recordChangeTag)
            #expect(error?.clientRecord === record && error?.ancestorRecord?["text"] == "xxx")
            server["text"] = "mine"
            try await database.save(server)
        }
    }

    // MARK: The way

    @Test(
        "Connections that break or last too long: networkFailure, and the request may be repeated",
        arguments: CloudFixture.allCases,
        [
            Fault.resetConnection, .lostResponse, .cutResponse(bytes: 10),
            .delay(milliseconds: 600_000),
        ]
    )
    func connection(_ fixture: CloudFixture, _ fault: Fault) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(note())
            cloud.setFaults(plan(FaultRule(fault, operation: "records/lookup", call: 1)))
            let configuration = CKOperation.Configuration()
            configuration.timeoutIntervalForRequest = 0.3
            await expectCKError(.networkFailure) {
                try await database.configuredWith(configuration: configuration) {
                    try await $0.record(for: recordID)
                }
            }
            #expect(try await database.record(for: recordID).recordType == "Note")
        }
    }
}
