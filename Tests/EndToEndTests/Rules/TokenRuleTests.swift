import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Rules: change tokens", .timeLimit(.minutes(10)))
struct TokenRuleTests: OperationContract {
    /// The newest token that an operation reported.
    private final class Place: Sendable {
        private let newest = Mutex<CKServerChangeToken?>(nil)

        var token: CKServerChangeToken? { newest.withLock { $0 } }

        func move(to token: CKServerChangeToken?) {
            newest.withLock { $0 = token ?? $0 }
        }
    }

    private func record(_ name: String) -> CKRecord {
        let recordID = CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
        return CKRecord(recordType: "Item", recordID: recordID)
    }

    /// Creates a zone with the records n0 to n4.
    private func fill(_ database: CKDatabase) async throws {
        try await database.save(Self.zone)
        let records = (0..<5).map { record("n\($0)") }
        let (results, _) = try await database.modifyRecords(saving: records, deleting: [])
        for result in results.values { _ = try result.get() }
    }

    /// Returns an operation for the zone's changes, two at a time, that logs the names of records
    /// and the result for the zone.
    private func zoneOperation(_ place: Place, _ log: Log) -> CKFetchRecordZoneChangesOperation {
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Self.zone.zoneID],
            configurationsByRecordZoneID: [
                Self.zone.zoneID: .init(
                    previousServerChangeToken: place.token,
                    resultsLimit: 2
                )
            ]
        )
        operation.recordWasChangedBlock = { recordID, _ in log.note(recordID.recordName) }
        operation.recordZoneChangeTokensUpdatedBlock = { _, token, _ in
            log.note("token")
            place.move(to: token)
        }
        operation.recordZoneFetchResultBlock = { _, result in
            guard let end = try? result.get() else { return log.note(word(result)) }
            log.note(end.moreComing ? "more" : "no more")
            place.move(to: end.serverChangeToken)
        }
        operation.fetchRecordZoneChangesResultBlock = { log.note("result \(word($0))") }
        return operation
    }

    /// Returns an operation for the database's changes, two at a time, that logs the names of zones.
    private func databaseOperation(_ place: Place, _ log: Log) -> CKFetchDatabaseChangesOperation {
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: place.token)
        operation.resultsLimit = 2
        operation.recordZoneWithIDChangedBlock = { log.note($0.zoneName) }
        operation.changeTokenUpdatedBlock = { token in
            log.note("token")
            place.move(to: token)
        }
        operation.fetchDatabaseChangesResultBlock = { result in
            guard let end = try? result.get() else { return log.note(word(result)) }
            log.note(end.moreComing ? "more" : "no more")
            place.move(to: end.serverChangeToken)
        }
        return operation
    }

    // MARK: Batches

    @Test(
        "Without fetchAllChanges a zone comes in one batch, and the next starts from its token",
        arguments: CloudFixture.allCases
    )
    func zoneBatches(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await fill(database)
            let place = Place()
            for expected in [["n0", "n1", "more"], ["n2", "n3", "more"], ["n4", "no more"]] {
                let log = Log()
                let operation = zoneOperation(place, log)
                operation.fetchAllChanges = false
                await run(operation, on: database, log)
                #expect(log.all == expected + ["result ok", "completion"])
            }
        }
    }

    @Test(
        "Without fetchAllChanges a database comes in one batch, and the next starts from its token",
        arguments: CloudFixture.allCases
    )
    func databaseBatches(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let place = Place()
            place.move(to: try await database.databaseChanges(since: nil).changeToken)
            for name in ["A", "B", "C"] { try await database.save(CKRecordZone(zoneName: name)) }
            let start = Place()
            start.move(to: place.token)
            for expected in [["A", "B", "more"], ["C", "no more"]] {
                let log = Log()
                let operation = databaseOperation(place, log)
                operation.fetchAllChanges = false
                await run(operation, on: database, log)
                #expect(log.all == expected + ["completion"])
            }
            // With it, one operation fetches them all, with a token after each batch but the last.
            let log = Log()
            await run(databaseOperation(start, log), on: database, log)
            #expect(log.all == ["A", "B", "token", "C", "no more", "completion"])
        }
    }

    // MARK: What a token is good for

    /// Returns a token as an app reads it that saved it in a file.
    private func archived(_ token: CKServerChangeToken?) throws -> CKServerChangeToken? {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: try #require(token),
            requiringSecureCoding: true
        )
        return try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKServerChangeToken.self,
            from: data
        )
    }

    @Test(
        "Tokens that were archived are good in new operations of the app's next run",
        arguments: CloudFixture.allCases
    )
    func archives(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user)
            try await fill(database)
            let (ofZone, ofDatabase) = (Place(), Place())
            await run(zoneOperation(ofZone, Log()), on: database, Log())
            await run(databaseOperation(ofDatabase, Log()), on: database, Log())
            try await database.save(record("news"))

            let next = try await cloud.database(of: user)
            ofZone.move(to: try archived(ofZone.token))
            let zoneLog = Log()
            await run(zoneOperation(ofZone, zoneLog), on: next, zoneLog)
            #expect(zoneLog.all == ["news", "no more", "result ok", "completion"])
            ofDatabase.move(to: try archived(ofDatabase.token))
            let databaseLog = Log()
            await run(databaseOperation(ofDatabase, databaseLog), on: next, databaseLog)
            #expect(databaseLog.all == ["Lists", "no more", "completion"])
        }
    }

    @Test(
        "A token from the middle of an operation stays good when the operation fails after it",
        arguments: CloudFixture.allCases
    )
    func failure(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await fill(database)
            cloud.setFaults(
                FaultPlan(
                    rules: [FaultRule(.error(.tryAgainLater), operation: "changes/zone", call: 2)]
                )
            )
            let place = Place()
            let log = Log()
            await run(zoneOperation(place, log), on: database, log)
            #expect(log.all.prefix(3) == ["n0", "n1", "token"])
            #expect(log.all.suffix(2) == ["result serviceUnavailable", "completion"])
            let rest = Log()
            await run(zoneOperation(place, rest), on: database, rest)
            #expect(
                rest.all == ["n2", "n3", "token", "n4", "no more", "result ok", "completion"]
            )
        }
    }

    /// Expects a database to refuse both a zone's token and a database's token that are not its own.
    private func expectRefusal(
        of tokens: (zone: CKServerChangeToken, database: CKServerChangeToken),
        by database: CKDatabase,
        in zoneID: CKRecordZone.ID
    ) async {
        let codes: [CKError.Code?] = [.changeTokenExpired, .invalidArguments]
        let ofZone = await #expect(throws: CKError.self) {
            try await database.recordZoneChanges(inZoneWith: zoneID, since: tokens.zone)
        }
        #expect(codes.contains(ofZone?.code))
        let ofDatabase = await #expect(throws: CKError.self) {
            try await database.databaseChanges(since: tokens.database)
        }
        #expect(codes.contains(ofDatabase?.code))
    }

    @Test(
        "Tokens are good in their own container, environment and database only",
        arguments: CloudFixture.allCases
    )
    func foreign(fixture: CloudFixture) async throws {
        var configuration = ServiceConfiguration()
        configuration.opensContainers = true
        try await fixture.run(configuration: configuration) { cloud in
            let (bob, device) = try await cloud.person("Bob")
            let own = device.privateCloudDatabase
            try await own.save(Self.zone)
            let zoneID = Self.zone.zoneID
            let tokens = (
                zone: try await own.recordZoneChanges(inZoneWith: zoneID, since: nil).changeToken,
                database: try await own.databaseChanges(since: nil).changeToken
            )
            let client = try await cloud.client(of: bob)
            let otherContainer = CKContainer(
                client: WebClient(
                    url: client.url,
                    container: "iCloud.other",
                    environment: client.environment,
                    credentials: client.credentials,
                    transport: client.transport
                )
            )
            let production = try await cloud.device(of: bob, in: .production)
            for container in [otherContainer, production] {
                let database = container.privateCloudDatabase
                try await database.save(Self.zone)
                await expectRefusal(of: tokens, by: database, in: zoneID)
            }
            // Another user's zone of the same name, in the shared database.
            let list = try await SharedList(in: cloud, publicPermission: .readOnly)
            let shared = try await list.admit(device)
            await expectRefusal(of: tokens, by: device.sharedCloudDatabase, in: shared)
        }
    }

    @Test(
        "A token of a shared zone is good for one user, its owner or a guest, on all devices",
        arguments: CloudFixture.allCases
    )
    func users(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let (_, stranger) = try await cloud.person("Cleo")
            let list = try await SharedList(in: cloud, publicPermission: .readOnly)
            let zoneID = try await list.admit(phone)
            _ = try await list.admit(stranger)
            let owned = SharedList.zoneID
            let shared = phone.sharedCloudDatabase
            let owners = try await list.database.recordZoneChanges(inZoneWith: owned, since: nil)
            let guests = try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil)
            for (database, zoneID, token) in [
                (shared, zoneID, owners.changeToken), (list.database, owned, guests.changeToken),
                (stranger.sharedCloudDatabase, zoneID, guests.changeToken),
            ] {
                let error = await #expect(throws: CKError.self) {
                    try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
                }
                #expect([.changeTokenExpired, .invalidArguments].contains(error?.code))
            }
            list.item["title"] = "Oat milk"
            try await list.database.save(list.item)
            let news = try await cloud.device(of: bob).sharedCloudDatabase
                .recordZoneChanges(inZoneWith: zoneID, since: guests.changeToken)
            #expect(news.modificationResultsByID.keys.map(\.recordName) == ["milk"])
        }
    }
}
