// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run: calls of a database from functions that are async and that are not.
@Suite("Calls of CKDatabase")
struct CKDatabaseCalls {
    @Test("A database is found by its scope")
    func scopes() {
        let container = CKContainer(identifier: "iCloud.com.example.app")
        #expect(container.database(with: .private) === container.privateCloudDatabase)
        #expect(container.database(with: .public) === container.publicCloudDatabase)
        #expect(container.sharedCloudDatabase.databaseScope == .shared)
        #expect(container.containerIdentifier == "iCloud.com.example.app")
    }

    func completions(_ database: CKDatabase, _ record: CKRecord, _ zone: CKRecordZone) {
        database.save(record) { record, error in
            if let error = error as? CKError, error.code == .serverRecordChanged {
                _ = error.serverRecord
            }
        }
        database.save(record) { _, _ in }
        database.save(record, completionHandler: { (saved: CKRecord?, error: Error?) in })
        database.save(zone) { _, _ in }
        database.fetch(withRecordID: record.recordID) { record, error in _ = record?["title"] }
        database.delete(withRecordID: record.recordID) { _, _ in }
        database.fetch(withRecordZoneID: zone.zoneID) { _, _ in }
        database.delete(withRecordZoneID: zone.zoneID) { _, _ in }
        database.fetchAllRecordZones { zones, error in _ = zones?.count }
        database.fetch(withRecordIDs: [record.recordID]) { result in
            switch result {
            case .success(let records): _ = records[record.recordID]
            case .failure(let error): _ = error
            }
        }
        database.fetch(withRecordIDs: [record.recordID], desiredKeys: ["title"]) { _ in }
        database.modifyRecords(saving: [record], deleting: []) { result in
            _ = try? result.get().saveResults[record.recordID]?.get()
        }
        database.modifyRecords(
            saving: [],
            deleting: [record.recordID],
            savePolicy: .allKeys,
            atomically: false
        ) { _ in }
        database.fetchDatabaseChanges(since: nil) { result in
            guard case .success(let changes) = result else { return }
            _ = changes.changeToken
        }
        database.fetchRecordZoneChanges(inZoneWith: zone.zoneID, since: nil) { _ in }
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        database.fetch(withQuery: query) { result in
            guard case .success((let matches, let cursor)) = result else { return }
            for (id, record) in matches { _ = (id, try? record.get()) }
            if let cursor { database.fetch(withCursor: cursor) { _ in } }
        }
        database.fetchAllSubscriptions { _, _ in }
        database.fetch(withSubscriptionID: "s") { _, _ in }
        database.delete(withSubscriptionID: "s") { _, _ in }
    }

    func asynchronous(_ database: CKDatabase, _ record: CKRecord, _ zone: CKRecordZone) async throws
    {
        try await database.save(record)
        let saved = try await database.save(record)
        let fetched = try await database.record(for: saved.recordID)
        try await database.deleteRecord(withID: fetched.recordID)
        let results = try await database.records(for: [record.recordID])
        for (id, result) in results {
            switch result {
            case .success(let record): _ = (id, record)
            case .failure(let error): throw error
            }
        }
        let (saveResults, deleteResults) = try await database.modifyRecords(
            saving: [record],
            deleting: [record.recordID]
        )
        _ = try saveResults[record.recordID]?.get()
        try deleteResults[record.recordID]?.get()
        try await database.save(zone)
        _ = try await database.allRecordZones()
        _ = try await database.recordZone(for: zone.zoneID)
        try await database.deleteRecordZone(withID: zone.zoneID)
        let changes = try await database.databaseChanges(since: nil)
        for deletion in changes.deletions where deletion.reason == .purged { _ = deletion.zoneID }
        var token: CKServerChangeToken?
        var more = true
        while more {
            let page = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: token)
            for (_, result) in page.modificationResultsByID { _ = try result.get().record }
            for deletion in page.deletions { _ = (deletion.recordID, deletion.recordType) }
            (token, more) = (page.changeToken, page.moreComing)
        }
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "age > %d", 3))
        query.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        var (matches, cursor) = try await database.records(matching: query, resultsLimit: 10)
        while let next = cursor {
            (matches, cursor) = try await database.records(continuingMatchFrom: next)
        }
        _ = matches.compactMap { try? $0.1.get() }
        try await database.save(CKDatabaseSubscription(subscriptionID: "s"))
        _ = try await database.allSubscriptions()
        try await database.deleteSubscription(withID: "s")
    }

    func configured(_ database: CKDatabase, _ record: CKRecord) async throws {
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .userInitiated
        configuration.timeoutIntervalForRequest = 10
        database.configuredWith(configuration: configuration) { database in
            database.fetch(withRecordID: record.recordID) { _, _ in }
        }
        try await database.configuredWith(configuration: configuration) { database in
            _ = try await database.record(for: record.recordID)
        }
    }

    func errors(_ database: CKDatabase, _ record: CKRecord) async {
        do {
            try await database.save(record)
        } catch CKError.serverRecordChanged {
        } catch let error as CKError where error.code == .zoneNotFound {
        } catch let error as CKError {
            switch error.code {
            case .networkFailure, .networkUnavailable: _ = error.retryAfterSeconds
            case .partialFailure: _ = error.partialErrorsByItemID?[record.recordID]
            default: _ = (error as NSError).userInfo[CKErrorRetryAfterKey]
            }
        } catch {}
    }
}
