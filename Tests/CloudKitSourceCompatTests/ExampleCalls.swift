// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit

// The examples in the documentation of the API, as they stand there; `ExampleTests` compares.

private func containers() async throws {
    let container = CKContainer(identifier: "iCloud.com.example.notes")
    guard try await container.accountStatus() == .available else { return }
    let user = try await container.userRecordID()
    let notes = container.privateCloudDatabase
    _ = (user, notes)
}

private func databases() async throws {
    let database = CKContainer.default().privateCloudDatabase
    let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
    let noteID = CKRecord.ID(recordName: "first", zoneID: zone.zoneID)
    let note = try await database.save(CKRecord(recordType: "Note", recordID: noteID))
    let changes = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
    _ = (note, changes)
}

private func zones(_ database: CKDatabase) async throws {
    let zone = CKRecordZone(zoneName: "Notes")
    _ = try await database.modifyRecordZones(saving: [zone], deleting: [])
    let note = CKRecord(recordType: "Note", recordID: .init(recordName: "a", zoneID: zone.zoneID))
    _ = note
}

private func records() async throws {
    let note = CKRecord(recordType: "Note")
    note["title"] = "Milk"
    note["count"] = 2
    let saved = try await CKContainer.default().privateCloudDatabase.save(note)
    _ = saved
}

private func assets(_ note: CKRecord, _ photoURL: URL, _ database: CKDatabase) async throws {
    note["photo"] = CKAsset(fileURL: photoURL)
    let saved = try await database.save(note)
    let photo = (saved["photo"] as? CKAsset)?.fileURL
    _ = photo
}

private func shares(_ list: CKRecord, _ database: CKDatabase) async throws {
    let share = CKShare(rootRecord: list)
    share[CKShare.SystemFieldKey.title] = "Shopping"
    share.publicPermission = .readOnly
    _ = try await database.modifyRecords(saving: [list, share], deleting: [])
    let link = share.url
    _ = link
}

private func subscriptions(_ database: CKDatabase) async throws {
    let subscription = CKQuerySubscription(
        recordType: "Note",
        predicate: NSPredicate(format: "count > %d", 1),
        subscriptionID: "many",
        options: [.firesOnRecordCreation, .firesOnRecordUpdate]
    )
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    try await database.save(subscription)
}

private func modification(_ notes: [CKRecord], _ oldIDs: [CKRecord.ID], _ database: CKDatabase) {
    let operation = CKModifyRecordsOperation(recordsToSave: notes, recordIDsToDelete: oldIDs)
    operation.savePolicy = .changedKeys
    operation.perRecordSaveBlock = { recordID, result in
        if case .failure(let error) = result { print(recordID.recordName, error) }
    }
    operation.modifyRecordsResultBlock = { result in print(result) }
    database.add(operation)
}

private func zoneChanges(
    _ zoneID: CKRecordZone.ID,
    _ token: CKServerChangeToken?,
    _ database: CKDatabase
) {
    let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zoneID],
        configurationsByRecordZoneID: [
            zoneID: .init(previousServerChangeToken: token)
        ]
    )
    operation.recordWasChangedBlock = { recordID, result in print(recordID, result) }
    operation.recordWithIDWasDeletedBlock = { recordID, type in print(recordID, type) }
    operation.recordZoneFetchResultBlock = { zoneID, result in
        if case .success(let state) = result { print("next time:", state.serverChangeToken) }
    }
    database.add(operation)
}

private func queryOperation(_ database: CKDatabase) {
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
    let operation = CKQueryOperation(query: query)
    operation.resultsLimit = 50
    operation.recordMatchedBlock = { recordID, result in print(recordID, result) }
    operation.queryResultBlock = { result in
        if case .success(let cursor?) = result { database.add(CKQueryOperation(cursor: cursor)) }
    }
    database.add(operation)
}

private func queries(_ database: CKDatabase) async throws {
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "title BEGINSWITH 'M'"))
    query.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
    let (matches, cursor) = try await database.records(matching: query)
    _ = (matches, cursor)
}

private func errors(_ record: CKRecord, _ database: CKDatabase) async throws {
    do {
        try await database.save(record)
    } catch let error as CKError where error.code == .serverRecordChanged {
        print("newer:", error.serverRecord as Any)
    }
}

final actor Notes: CKSyncEngineDelegate {
    private var engine: CKSyncEngine?

    func start(_ state: CKSyncEngine.State.Serialization?) {
        engine = CKSyncEngine(
            CKSyncEngine.Configuration(
                database: CKContainer.default().privateCloudDatabase,
                stateSerialization: state,
                delegate: self
            )
        )
    }

    func edited(_ recordID: CKRecord.ID) {
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
    }
}

extension Notes {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}
