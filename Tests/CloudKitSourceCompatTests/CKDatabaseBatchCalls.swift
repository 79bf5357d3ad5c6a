// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run: calls of a database about several items, from functions that are async, from
/// functions that are not, and from actors.
struct CKDatabaseBatchCalls {
    func records(_ database: CKDatabase, _ ids: [CKRecord.ID]) async throws -> [CKRecord] {
        let all: [CKRecord.ID: Result<CKRecord, Error>] = try await database.records(for: ids)
        let some = try await database.records(for: ids, desiredKeys: ["title"])
        let none = try await database.records(for: ids, desiredKeys: [])
        _ = try ids.map { try none[$0]?.get().recordChangeTag }
        for (id, result) in some {
            do {
                _ = try result.get()["title"] as? String
            } catch CKError.unknownItem {
                _ = id
            }
        }
        return try all.map { try $0.value.get() }
    }

    func recordsBack(_ database: CKDatabase, _ ids: [CKRecord.ID]) {
        database.fetch(withRecordIDs: ids, desiredKeys: nil) { result in
            guard case .success(let records) = result else { return }
            for case (let id, .failure(let error)) in records { _ = (id, error) }
        }
        database.fetch(withRecordIDs: ids, completionHandler: { _ in })
        database.modifyRecords(saving: [], deleting: ids) { result in
            switch result {
            case .success((let saved, let deleted)):
                _ = (saved.isEmpty, deleted.values.allSatisfy { (try? $0.get()) != nil })
            case .failure(let error): _ = (error as? CKError)?.code
            }
        }
        database.modifyRecords(
            saving: [],
            deleting: ids,
            savePolicy: .changedKeys,
            atomically: false,
            completionHandler: { result in
                if case .success(let results) = result { _ = results.deleteResults[ids[0]] }
            }
        )
    }

    func zones(_ database: CKDatabase, _ ids: [CKRecordZone.ID]) async throws {
        let zones = try await database.recordZones(for: ids)
        for case .success(let zone) in zones.values { _ = zone.capabilities }
        let results = try await database.modifyRecordZones(
            saving: ids.map(CKRecordZone.init(zoneID:)),
            deleting: []
        )
        _ = try results.saveResults.mapValues { try $0.get() }
        for result in results.deleteResults.values { try result.get() }
    }

    func zonesBack(_ database: CKDatabase, _ ids: [CKRecordZone.ID]) {
        database.fetch(withRecordZoneIDs: ids) { result in
            _ = try? result.get().compactMapValues { try? $0.get() }
        }
        database.modifyRecordZones(saving: [], deleting: ids) { result in
            guard case .success(let results) = result else { return }
            for (id, result) in results.deleteResults {
                if case .failure(let error) = result { _ = (id.zoneName, error) }
            }
        }
    }

    func subscriptions(_ database: CKDatabase, _ ids: [CKSubscription.ID]) async throws {
        let subscriptions = try await database.subscriptions(for: ids)
        for (id, result) in subscriptions { _ = try result.get().subscriptionID == id }
        let (saved, deleted) = try await database.modifySubscriptions(
            saving: [CKDatabaseSubscription(subscriptionID: "all")],
            deleting: ids
        )
        _ = (saved.count, deleted.keys.sorted())
    }

    func subscriptionsBack(_ database: CKDatabase, _ ids: [CKSubscription.ID]) {
        database.fetch(withSubscriptionIDs: ids) { result in
            if case .success(let found) = result { _ = found["all"].flatMap { try? $0.get() } }
        }
        database.modifySubscriptions(saving: [], deleting: ids) { result in
            _ = try? result.get().deleteResults["all"]?.get()
        }
    }

    func pages(_ database: CKDatabase, _ query: CKQuery) async throws -> [CKRecord] {
        var page = try await database.records(
            matching: query,
            inZoneWith: .default,
            desiredKeys: ["title"],
            resultsLimit: 20
        )
        var records = page.matchResults.compactMap { try? $0.1.get() }
        while let cursor = page.queryCursor {
            page = try await database.records(
                continuingMatchFrom: cursor,
                desiredKeys: ["title"],
                resultsLimit: CKQueryOperation.maximumResults
            )
            for (id, result) in page.matchResults where id.zoneID == .default {
                records.append(try result.get())
            }
        }
        return records
    }

    func pagesBack(_ database: CKDatabase, _ query: CKQuery) {
        database.fetch(
            withQuery: query,
            inZoneWith: .default,
            desiredKeys: ["title"],
            resultsLimit: 20
        ) { result in
            guard let page = try? result.get(), let cursor = page.queryCursor else { return }
            database.fetch(withCursor: cursor, desiredKeys: nil, resultsLimit: 20) { result in
                switch result {
                case .success((let matches, nil)): _ = matches.map(\.0)
                case .success((_, .some(let cursor))): _ = cursor
                case .failure(let error): _ = error
                }
            }
        }
    }

    func changes(_ database: CKDatabase, _ token: CKServerChangeToken?) async throws {
        let (modified, deleted, newToken, more) = try await database.databaseChanges(
            since: token,
            resultsLimit: 10
        )
        _ = (modified.map(\.zoneID), deleted.map(\.reason), newToken, more)
        let changes = try await database.recordZoneChanges(
            inZoneWith: .default,
            since: nil,
            desiredKeys: ["title"],
            resultsLimit: 100
        )
        for (id, result) in changes.modificationResultsByID { _ = (id, try result.get().record) }
    }

    func changesBack(_ database: CKDatabase, _ token: CKServerChangeToken?) {
        database.fetchDatabaseChanges(since: token, resultsLimit: 10) { result in
            guard case .success((let modified, let deleted, let token, _)) = result else { return }
            _ = (modified.first?.zoneID, deleted.first?.zoneID, token)
        }
        database.fetchRecordZoneChanges(
            inZoneWith: .default,
            since: token,
            desiredKeys: nil,
            resultsLimit: nil
        ) { result in
            do {
                let changes = try result.get()
                _ = (changes.changeToken, changes.moreComing, changes.deletions.map(\.recordID))
            } catch CKError.changeTokenExpired {
            } catch {}
        }
    }

    /// Several simultaneous calls, each in its own task.
    func together(_ database: CKDatabase, _ ids: [CKRecord.ID]) async throws {
        async let records = database.records(for: ids)
        async let zones = database.allRecordZones()
        async let subscriptions = database.allSubscriptions()
        _ = try await (records.count, zones.count, subscriptions.count)
        await withTaskGroup(of: Void.self) { group in
            for id in ids { group.addTask { _ = try? await database.deleteRecord(withID: id) } }
        }
        let found = await withTaskGroup(of: CKRecord?.self, returning: [CKRecord].self) { group in
            for id in ids { group.addTask { try? await database.record(for: id) } }
            return await group.compactMap { $0 }.reduce(into: []) { $0.append($1) }
        }
        _ = found.map(\.recordID)
    }

    /// Each callback as an async call of the app's own.
    func continued(_ database: CKDatabase, _ ids: [CKRecord.ID]) async throws -> CKRecord? {
        let records = try await withCheckedThrowingContinuation { continuation in
            database.fetch(withRecordIDs: ids) { continuation.resume(with: $0) }
        }
        _ = records.count
        return try await withCheckedThrowingContinuation { continuation in
            database.fetch(withRecordID: ids[0]) { record, error in
                if let error { return continuation.resume(throwing: error) }
                continuation.resume(returning: record)
            }
        }
    }
}

/// Compiled, not run: an actor that stores records from a database.
actor RecordCache {
    private var records: [CKRecord.ID: CKRecord] = [:]
    private let database: CKDatabase

    init(_ database: CKDatabase) { self.database = database }

    func fill(_ ids: [CKRecord.ID]) async throws {
        for (id, result) in try await database.records(for: ids) { records[id] = try result.get() }
    }

    func flush() async throws {
        let (saved, _) = try await database.modifyRecords(
            saving: Array(records.values),
            deleting: []
        )
        records = try saved.mapValues { try $0.get() }
    }

    nonisolated func refresh(_ ids: [CKRecord.ID]) {
        database.fetch(withRecordIDs: ids) { result in
            guard let found = try? result.get() else { return }
            _Concurrency.Task { await self.take(found.compactMapValues { try? $0.get() }) }
        }
    }

    private func take(_ found: [CKRecord.ID: CKRecord]) { records.merge(found) { $1 } }
}
