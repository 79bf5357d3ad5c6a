import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Completion handlers of databases", .timeLimit(.minutes(10)))
struct DatabaseCompletionTests: CompletionContract {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private func note(_ name: String, in zoneID: CKRecordZone.ID = zoneID) -> CKRecord {
        let record = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
        )
        record["title"] = name
        return record
    }

    private func subscription(_ name: String) -> CKSubscription {
        let subscription = CKDatabaseSubscription(subscriptionID: name)
        subscription.notificationInfo = .init(shouldSendContentAvailable: true)
        return subscription
    }

    /// Runs a test on a database with a zone.
    private func run(
        _ fixture: CloudFixture,
        _ body: @Sendable (CKDatabase) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            try await body(database)
        }
    }

    // MARK: Records

    @Test(
        "One record is saved, fetched and deleted, and a missing one is an error",
        arguments: CloudFixture.allCases
    )
    func record(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let new = note("n")
            let saved = try await response { database.save(new, completionHandler: $0) }
            #expect(saved === new && new.recordChangeTag != nil)
            let fetched = try await response {
                database.fetch(withRecordID: new.recordID, completionHandler: $0)
            }
            #expect(fetched["title"] == "n")
            let deletedID = try await response {
                database.delete(withRecordID: new.recordID, completionHandler: $0)
            }
            #expect(deletedID == new.recordID)
            await expectCKError(.unknownItem) {
                try await response {
                    database.fetch(withRecordID: new.recordID, completionHandler: $0)
                }
            }
            let lost = note("n", in: CKRecordZone.ID(zoneName: "Nowhere"))
            await expectCKError(.zoneNotFound) {
                try await response { database.save(lost, completionHandler: $0) }
            }
            await expectCKError(.zoneNotFound) {
                try await response {
                    database.delete(withRecordID: lost.recordID, completionHandler: $0)
                }
            }
        }
    }

    @Test(
        "Several records are saved and fetched, each with its result",
        arguments: CloudFixture.allCases
    )
    func records(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let (old, new) = (note("old"), note("new"))
            try await database.save(old)
            let modified = try await result {
                database.modifyRecords(
                    saving: [note("old"), new],
                    deleting: [note("gone").recordID],
                    atomically: false,
                    completionHandler: $0
                )
            }
            await expectCKError(.serverRecordChanged) {
                try #require(modified.saveResults[old.recordID]).get()
            }
            #expect(try modified.saveResults[new.recordID]?.get() === new)
            try #require(modified.deleteResults[note("gone").recordID]).get()

            let fetched = try await result {
                database.fetch(
                    withRecordIDs: [new.recordID, note("gone").recordID],
                    desiredKeys: [],
                    completionHandler: $0
                )
            }
            #expect(try fetched[new.recordID]?.get().allKeys() == [])
            await expectCKError(.unknownItem) {
                try #require(fetched[note("gone").recordID]).get()
            }
            await expectCKError(.invalidArguments) {
                try await result {
                    database.modifyRecords(
                        saving: [new],
                        deleting: [new.recordID],
                        completionHandler: $0
                    )
                }
            }
        }
    }

    @Test(
        "A query's pages are fetched, and an unknown type is an error",
        arguments: CloudFixture.allCases
    )
    func queries(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let notes = ["a", "b", "c"].map { note($0) }
            _ = try await database.modifyRecords(saving: notes, deleting: [])
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
            query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let first = try await result {
                database.fetch(
                    withQuery: query,
                    inZoneWith: Self.zoneID,
                    resultsLimit: 2,
                    completionHandler: $0
                )
            }
            #expect(first.matchResults.map(\.0.recordName) == ["a", "b"])
            let cursor = try #require(first.queryCursor)
            let second = try await result {
                database.fetch(withCursor: cursor, completionHandler: $0)
            }
            #expect(second.matchResults.map(\.0.recordName) == ["c"])
            let old: any OldQueries = QueriesOfOld()
            let all = try await old.perform(query, Self.zoneID, database)
            #expect(all.map(\.recordID.recordName) == ["a", "b", "c"])

            let unknown = CKQuery(recordType: "Nobody", predicate: NSPredicate(value: true))
            await expectCKError(.unknownItem) {
                try await result { database.fetch(withQuery: unknown, completionHandler: $0) }
            }
            await expectCKError(.unknownItem) { try await old.perform(unknown, nil, database) }
        }
    }

    // MARK: Zones

    @Test(
        "Zones are saved, fetched and deleted, and a missing one is an error",
        arguments: CloudFixture.allCases
    )
    func zones(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let zone = CKRecordZone(zoneName: "Lists")
            let saved = try await response { database.save(zone, completionHandler: $0) }
            #expect(saved.zoneID == zone.zoneID)
            let fetched = try await response {
                database.fetch(withRecordZoneID: zone.zoneID, completionHandler: $0)
            }
            #expect(fetched.capabilities.contains(.atomic))
            let all = try await response { database.fetchAllRecordZones(completionHandler: $0) }
            #expect(Set(all.map(\.zoneID)) == [.default, Self.zoneID, zone.zoneID])
            let deletedID = try await response {
                database.delete(withRecordZoneID: zone.zoneID, completionHandler: $0)
            }
            #expect(deletedID == zone.zoneID)
            await expectCKError(.zoneNotFound) {
                try await response {
                    database.fetch(withRecordZoneID: zone.zoneID, completionHandler: $0)
                }
            }

            let modified = try await result {
                database.modifyRecordZones(
                    saving: [zone],
                    deleting: [Self.zoneID],
                    completionHandler: $0
                )
            }
            #expect(try modified.saveResults[zone.zoneID]?.get().zoneID == zone.zoneID)
            try #require(modified.deleteResults[Self.zoneID]).get()
            let several = try await result {
                database.fetch(
                    withRecordZoneIDs: [zone.zoneID, Self.zoneID],
                    completionHandler: $0
                )
            }
            #expect(try several[zone.zoneID]?.get().zoneID == zone.zoneID)
            await expectCKError(.zoneNotFound) { try #require(several[Self.zoneID]).get() }
        }
    }

    @Test(
        "Changes of the database and of a zone are fetched, and a missing zone is an error",
        arguments: CloudFixture.allCases
    )
    func changes(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            try await database.save(note("n"))
            let zones = try await result {
                database.fetchDatabaseChanges(since: nil, completionHandler: $0)
            }
            #expect(zones.modifications.map(\.zoneID) == [Self.zoneID] && !zones.moreComing)
            let records = try await result {
                database.fetchRecordZoneChanges(
                    inZoneWith: Self.zoneID,
                    since: nil,
                    completionHandler: $0
                )
            }
            #expect(Array(records.modificationResultsByID.keys) == [note("n").recordID])
            await expectCKError(.zoneNotFound) {
                try await result {
                    database.fetchRecordZoneChanges(
                        inZoneWith: CKRecordZone.ID(zoneName: "Nowhere"),
                        since: nil,
                        completionHandler: $0
                    )
                }
            }
        }
    }

    // MARK: Subscriptions

    @Test(
        "Subscriptions are saved, fetched and deleted, and a missing one is an error",
        arguments: CloudFixture.allCases
    )
    func subscriptions(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let saved = try await response {
                database.save(subscription("one"), completionHandler: $0)
            }
            #expect(saved.subscriptionID == "one")
            let fetched = try await response {
                database.fetch(withSubscriptionID: "one", completionHandler: $0)
            }
            #expect(fetched is CKDatabaseSubscription)
            let all = try await response { database.fetchAllSubscriptions(completionHandler: $0) }
            #expect(all.map(\.subscriptionID) == ["one"])
            let deleted = try await response {
                database.delete(withSubscriptionID: "one", completionHandler: $0)
            }
            #expect(deleted == "one")
            await expectCKError(.unknownItem) {
                try await response {
                    database.fetch(withSubscriptionID: "one", completionHandler: $0)
                }
            }

            let modified = try await result {
                database.modifySubscriptions(
                    saving: [subscription("two")],
                    deleting: ["one"],
                    completionHandler: $0
                )
            }
            #expect(try modified.saveResults["two"]?.get().subscriptionID == "two")
            try #require(modified.deleteResults["one"]).get()
            let several = try await result {
                database.fetch(withSubscriptionIDs: ["two", "one"], completionHandler: $0)
            }
            #expect(try several["two"]?.get().subscriptionID == "two")
            await expectCKError(.unknownItem) { try #require(several["one"]).get() }
        }
    }

    // MARK: Without a user

    @Test("Without a user each handler gets notAuthenticated", arguments: CloudFixture.allCases)
    func nobody(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: nil)
            await expectCKError(.notAuthenticated) {
                try await response { database.fetchAllRecordZones(completionHandler: $0) }
            }
            await expectCKError(.notAuthenticated) {
                try await response { database.fetchAllSubscriptions(completionHandler: $0) }
            }
            await expectCKError(.notAuthenticated) {
                try await response { database.save(note("n"), completionHandler: $0) }
            }
            await expectCKError(.notAuthenticated) {
                try await result {
                    database.fetchDatabaseChanges(since: nil, completionHandler: $0)
                }
            }
        }
    }
}

/// Calls the deprecated search without the warning: a witness may be deprecated.
private protocol OldQueries {
    func perform(
        _ query: CKQuery,
        _ zoneID: CKRecordZone.ID?,
        _ database: CKDatabase
    ) async throws -> [CKRecord]
}

private struct QueriesOfOld: OldQueries, CompletionContract {
    @available(*, deprecated)
    func perform(
        _ query: CKQuery,
        _ zoneID: CKRecordZone.ID?,
        _ database: CKDatabase
    ) async throws -> [CKRecord] {
        try await response { database.perform(query, inZoneWith: zoneID, completionHandler: $0) }
    }
}
