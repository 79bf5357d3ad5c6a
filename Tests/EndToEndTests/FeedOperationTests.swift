import CloudKit
import Support
import Testing

@Suite("Operations for subscriptions and changes, run against a service", .timeLimit(.minutes(10)))
struct FeedOperationTests: OperationContract {
    // MARK: Subscriptions

    /// Returns a subscription that can be saved, and one that the service refuses.
    private func subscriptions() -> [CKSubscription] {
        let subscriptions: [CKSubscription] = [
            CKDatabaseSubscription(subscriptionID: "all"),
            CKRecordZoneSubscription(zoneID: .default, subscriptionID: "bad"),
        ]
        for subscription in subscriptions {
            subscription.notificationInfo = .init(shouldSendContentAvailable: true)
        }
        return subscriptions
    }

    /// Saves a subscription, to be deleted or fetched.
    private func subscribe(_ name: String, to database: CKDatabase) async throws {
        let subscription = CKDatabaseSubscription(subscriptionID: name)
        subscription.notificationInfo = .init(shouldSendContentAvailable: true)
        try await database.save(subscription)
    }

    @Test(
        "Subscriptions are saved and deleted before the result, and a bad one fails alone",
        arguments: CloudFixture.allCases
    )
    func modifySubscriptions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await subscribe("old", to: database)
            let log = Log()
            let operation = CKModifySubscriptionsOperation(
                subscriptionsToSave: subscriptions(),
                subscriptionIDsToDelete: ["old"]
            )
            operation.perSubscriptionSaveBlock = { log.note("save \($0) \(word($1))") }
            operation.perSubscriptionDeleteBlock = { log.note("delete \($0) \(word($1))") }
            operation.modifySubscriptionsResultBlock = { log.note("result \(word($0))") }
            await run(operation, on: database, log)
            #expect(
                log.all == [
                    "save all ok", "save bad invalidArguments", "delete old ok", "result ok",
                    "completion",
                ]
            )
            #expect(try await database.allSubscriptions().map(\.subscriptionID) == ["all"])
        }
    }

    @Test(
        "A subscription without a notificationInfo fails alone, before anything is sent of it",
        arguments: CloudFixture.allCases
    )
    func subscriptionWithoutNotice(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let silent = CKDatabaseSubscription(subscriptionID: "silent")
            let (saved, _) = try await database.modifySubscriptions(
                saving: subscriptions().prefix(1) + [silent],
                deleting: []
            )
            #expect(try saved["all"]?.get().subscriptionID == "all")
            await expectCKError(.invalidArguments) { try saved["silent"]?.get() }
            #expect(try await database.allSubscriptions().map(\.subscriptionID) == ["all"])
        }
    }

    @Test(
        "The old block gets the saved subscriptions, and a partialFailure that names the bad one",
        arguments: CloudFixture.allCases
    )
    func oldModifySubscriptions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await subscribe("old", to: database)
            let log = Log()
            let operation = old.modify(subscriptions(), deleting: "old", log)
            await run(operation, on: database, log)
            #expect(
                log.all == [
                    "saved all", "deleted old", "partialFailure 1 invalidArguments", "completion",
                ]
            )
        }
    }

    @Test(
        "An operation that is started by hand fetches subscriptions, and a missing one fails alone",
        arguments: CloudFixture.allCases
    )
    func fetchSubscriptions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await subscribe("all", to: database)
            let log = Log()
            let operation = CKFetchSubscriptionsOperation(subscriptionIDs: ["missing", "all"])
            operation.database = database
            operation.perSubscriptionResultBlock = { log.note("\($0) \(word($1))") }
            await withCheckedContinuation { continuation in
                operation.fetchSubscriptionsResultBlock = { result in
                    log.note("result \(word(result))")
                    continuation.resume()
                }
                operation.start()
            }
            #expect(log.all == ["missing unknownItem", "all ok", "result ok"])
        }
    }

    @Test(
        "The operation that fetches all subscriptions reports each of them before the result",
        arguments: CloudFixture.allCases
    )
    func fetchAllSubscriptions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await subscribe("all", to: database)
            let log = Log()
            let operation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
            operation.perSubscriptionResultBlock = { log.note("\($0) \(word($1))") }
            operation.fetchSubscriptionsResultBlock = { log.note("result \(word($0))") }
            await run(operation, on: database, log)
            #expect(log.all == ["all ok", "result ok", "completion"])
        }
    }

    @Test(
        "The old block gets the subscriptions, and a partialFailure that names the missing one",
        arguments: CloudFixture.allCases
    )
    func oldFetchSubscriptions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await subscribe("all", to: database)
            let log = Log()
            let operation = old.subscriptions(["all", "missing"], missing: "missing", log)
            await run(operation, on: database, log)
            #expect(log.all == ["fetched all", "partialFailure 1 unknownItem", "completion"])
        }
    }

    // MARK: Changes

    @Test(
        "Zones that went come first, then those that changed, then the result with its token",
        arguments: CloudFixture.allCases
    )
    func databaseChanges(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let other = CKRecordZone(zoneName: "Other")
            try await database.save(Self.zone)
            try await database.save(other)
            let token = try await database.databaseChanges(since: nil).changeToken
            try await database.save(
                CKRecord(
                    recordType: "List",
                    recordID: CKRecord.ID(recordName: "list", zoneID: Self.zone.zoneID)
                )
            )
            try await database.deleteRecordZone(withID: other.zoneID)
            let log = Log()
            let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
            operation.recordZoneWithIDChangedBlock = { log.note("changed \($0.zoneName)") }
            operation.recordZoneWithIDWasDeletedBlock = { log.note("deleted \($0.zoneName)") }
            operation.fetchDatabaseChangesResultBlock = { result in
                let end = try? result.get()
                log.note("\(word(result)) \(end?.serverChangeToken != token)")
                log.note("more \(end?.moreComing ?? true)")
            }
            await run(operation, on: database, log)
            #expect(
                log.all == [
                    "deleted Other", "changed Lists", "ok true", "more false", "completion",
                ]
            )
        }
    }

    @Test(
        "A database that keeps no changes fails the whole operation, in new and old blocks",
        arguments: CloudFixture.allCases
    )
    func changesOfPublicDatabase(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.device(of: try await cloud.addUser())
                .publicCloudDatabase
            let (log, oldLog) = (Log(), Log())
            let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
            operation.fetchDatabaseChangesResultBlock = { log.note("result \(word($0))") }
            await run(operation, on: database, log)
            #expect(log.all == ["result badDatabase", "completion"])

            let oldOperation = old.databaseChanges(oldLog)
            await run(oldOperation, on: database, oldLog)
            #expect(oldLog.all == ["false false badDatabase", "completion"])
        }
    }

    @Test(
        "The operation for one zone reports records that changed and went, then its token",
        arguments: CloudFixture.allCases
    )
    func recordChanges(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let zoneID = Self.zone.zoneID
            try await database.save(Self.zone)
            let records = ["a", "b"].map {
                CKRecord(
                    recordType: "List",
                    recordID: CKRecord.ID(recordName: $0, zoneID: zoneID)
                )
            }
            for record in records { try await database.save(record) }
            let token = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
                .changeToken
            records[0]["title"] = "changed"
            try await database.save(records[0])
            try await database.deleteRecord(withID: records[1].recordID)
            let log = Log()
            let operation = old.recordChanges(zoneID, token, log)
            await run(operation, on: database, log)
            #expect(log.all == ["changed a", "deleted b", "end true none", "completion"])

            let missing = Log()
            let failing = old.recordChanges(CKRecordZone.ID(zoneName: "Missing"), nil, missing)
            await run(failing, on: database, missing)
            #expect(missing.all == ["end false zoneNotFound", "completion"])
        }
    }
}
