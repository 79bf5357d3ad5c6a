import CloudKit
import Synchronization

/// An app with the records of one zone, which it receives only from its engine.
final class TreeFollower: CKSyncEngineDelegate {
    /// The app's copy of a record.
    struct Item: Hashable {
        var parent: String?
        var title: String?
    }

    private struct Contents {
        var items: [String: Item] = [:]
        var drafts: [CKRecord.ID: CKRecord] = [:]
        var problems: [String] = []
        var engine: CKSyncEngine?
    }

    private let contents = Mutex(Contents())
    private let zoneName: String

    init(_ database: CKDatabase, zoneName: String) {
        self.zoneName = zoneName
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: nil,
            delegate: self
        )
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        contents.withLock { $0.engine = engine }
    }

    var items: [String: Item] { contents.withLock { $0.items } }
    /// The changes that could not be sent.
    var problems: [String] { contents.withLock { $0.problems } }
    var engine: CKSyncEngine { contents.withLock { $0.engine! } }

    /// Sends a changed record through the engine.
    func save(_ record: CKRecord) async throws {
        contents.withLock { $0.drafts[record.recordID] = record }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(record.recordID)])
        try await engine.sendChanges()
    }

    /// Deletes a record through the engine.
    func delete(_ recordID: CKRecord.ID) async throws {
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(recordID)])
        try await engine.sendChanges()
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await CKSyncEngine.RecordZoneChangeBatch(
            pendingChanges: syncEngine.state.pendingRecordZoneChanges
        ) { recordID in
            self.contents.withLock { $0.drafts[recordID] }
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        contents.withLock { contents in
            switch event {
            case .fetchedDatabaseChanges(let changes):
                if changes.deletions.contains(where: { $0.zoneID.zoneName == zoneName }) {
                    contents.items = [:]
                }
            case .fetchedRecordZoneChanges(let changes):
                for modification in changes.modifications {
                    Self.take(modification.record, &contents)
                }
                for deletion in changes.deletions {
                    contents.items[deletion.recordID.recordName] = nil
                }
            case .sentRecordZoneChanges(let sent):
                for record in sent.savedRecords { Self.take(record, &contents) }
                for recordID in sent.deletedRecordIDs {
                    contents.items[recordID.recordName] = nil
                }
                contents.problems += sent.failedRecordSaves.map { "\($0.error)" }
                contents.problems += sent.failedRecordDeletes.map { "\($0.value)" }
            default: break
            }
        }
    }

    private static func take(_ record: CKRecord, _ contents: inout Contents) {
        contents.items[record.recordID.recordName] = Item(
            parent: record.parent?.recordID.recordName,
            title: record is CKShare ? nil : record["title"]
        )
    }
}
