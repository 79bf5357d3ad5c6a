// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

// Seams between apps and the framework, so that a test can replace the framework. Its classes conform
// without a line of code.

protocol RecordSaving: Sendable {
    func save(_ record: CKRecord) async throws -> CKRecord
}

extension CKDatabase: RecordSaving {}

protocol RecordStore: RecordSaving {
    func record(for recordID: CKRecord.ID) async throws -> CKRecord
    func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]?
    ) async throws -> [CKRecord.ID: Result<CKRecord, Error>]
    func records(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?,
        desiredKeys: [CKRecord.FieldKey]?,
        resultsLimit: Int
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, Error>)],
        queryCursor: CKQueryOperation.Cursor?
    )
    func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy,
        atomically: Bool
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, Error>],
        deleteResults: [CKRecord.ID: Result<Void, Error>]
    )
    @discardableResult
    func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID
    func save(_ zone: CKRecordZone) async throws -> CKRecordZone
    func allRecordZones() async throws -> [CKRecordZone]
    func save(_ subscription: CKSubscription) async throws -> CKSubscription
}

extension CKDatabase: RecordStore {}

/// The same with completion handlers.
protocol RecordStoreBack: AnyObject {
    var databaseScope: CKDatabase.Scope { get }
    func add(_ operation: CKDatabaseOperation)
    func save(
        _ record: CKRecord,
        completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void
    )
    func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void
    )
    func delete(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord.ID?, Error?) -> Void
    )
    func fetchAllRecordZones(
        completionHandler: @escaping @Sendable ([CKRecordZone]?, Error?) -> Void
    )
    func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy,
        atomically: Bool,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecord.ID: Result<CKRecord, Error>],
                        deleteResults: [CKRecord.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    )
}

extension CKDatabase: RecordStoreBack {}

/// A container whose databases are of a kind of the app's.
protocol CloudContainer {
    associatedtype Database: RecordSaving
    static func `default`() -> CKContainer
    var containerIdentifier: String? { get }
    var privateCloudDatabase: Database { get }
    func database(with databaseScope: CKDatabase.Scope) -> Database
    func accountStatus() async throws -> CKAccountStatus
    func fetchUserRecordID(completionHandler: @escaping @Sendable (CKRecord.ID?, Error?) -> Void)
    func shareParticipant(forEmailAddress: String) async throws -> CKShare.Participant
    func accept(_ metadata: CKShare.Metadata) async throws -> CKShare
    func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, Error>]
}

extension CKContainer: CloudContainer {}

protocol RecordFields: AnyObject {
    var recordType: CKRecord.RecordType { get }
    var recordID: CKRecord.ID { get }
    var modificationDate: Date? { get }
    var parent: CKRecord.Reference? { get set }
    subscript(key: CKRecord.FieldKey) -> CKRecordValue? { get set }
    func object(forKey key: CKRecord.FieldKey) -> CKRecordValue?
    func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecord: RecordFields {}

protocol RecordChanging: Operation {
    var database: CKDatabase? { get set }
    var configuration: CKOperation.Configuration! { get set }
    var recordsToSave: [CKRecord]? { get set }
    var recordIDsToDelete: [CKRecord.ID]? { get set }
    var savePolicy: CKModifyRecordsOperation.RecordSavePolicy { get set }
    var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, Error>) -> Void)? { get set }
    var modifyRecordsResultBlock: ((Result<Void, Error>) -> Void)? { get set }
}

extension CKModifyRecordsOperation: RecordChanging {}

/// A replacement for a database in tests.
actor RecordsInMemory: RecordSaving {
    private(set) var saved: [CKRecord.ID: CKRecord] = [:]

    func save(_ record: CKRecord) async throws -> CKRecord {
        guard saved[record.recordID] == nil else { throw CKError(.serverRecordChanged) }
        saved[record.recordID] = record
        return record
    }
}

/// App code that does not know where it saves.
struct NoteKeeper<Store: RecordSaving> {
    var store: Store

    func keep(_ title: String, as id: CKRecord.ID) async throws -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id)
        record["title"] = title
        return try await store.save(record)
    }
}

@Suite("Seams of apps")
struct ConformanceCalls {
    @Test("A test's own store stands where the database does")
    func fake() async throws {
        let store = RecordsInMemory()
        let id = CKRecord.ID(recordName: "a")
        let saved = try await NoteKeeper(store: store).keep("Milk", as: id)
        #expect(await store.saved[id] === saved)
        await #expect(throws: CKError.self) {
            try await NoteKeeper(store: store).keep("Tea", as: id)
        }
    }

    @Test("A database, a container, a record and an operation stand behind an app's protocols")
    func classes() {
        let container = CKContainer.app
        let seam: any CloudContainer = container
        #expect(seam.containerIdentifier == "iCloud.com.example.app")
        let saver: any RecordSaving = seam.privateCloudDatabase
        #expect(saver as? CKDatabase === container.privateCloudDatabase)
        let back: any RecordStoreBack = container.publicCloudDatabase
        #expect(back.databaseScope == .public && back is any RecordStore)

        let fields: any RecordFields = CKRecord(recordType: "Note")
        fields["title"] = "Milk" as CKRecordValue
        #expect(fields["title"] as? String == "Milk" && fields.changedKeys() == ["title"])
        #expect(fields.object(forKey: "title") as? String == "Milk" && fields.parent == nil)

        let operation: any RecordChanging = CKModifyRecordsOperation()
        operation.recordsToSave = []
        operation.perRecordSaveBlock = { _, result in _ = try? result.get() }
        operation.modifyRecordsResultBlock = { _ in }
        #expect(operation.recordsToSave == [] && operation.recordIDsToDelete == nil)
    }

    func generic(_ store: some RecordStore, _ query: CKQuery) async throws -> [CKRecord] {
        let (matches, _) = try await store.records(
            matching: query,
            inZoneWith: nil,
            desiredKeys: nil,
            resultsLimit: 10
        )
        try await store.deleteRecord(withID: CKRecord.ID(recordName: "a"))
        _ = try await store.save(CKRecordZone(zoneName: "Notes"))
        return try matches.map { try $0.1.get() }
    }

    func back(_ store: any RecordStoreBack, _ record: CKRecord) {
        store.save(record) { saved, error in _ = (saved?.recordID, error as? CKError) }
        store.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: .allKeys,
            atomically: true
        ) { result in _ = try? result.get().saveResults }
        store.add(CKModifyRecordsOperation(recordsToSave: [record]))
    }
}
