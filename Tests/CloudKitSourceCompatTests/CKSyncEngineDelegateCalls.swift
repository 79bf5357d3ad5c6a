// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

// Compiled, and mostly not run: the kinds of types that apps use as their engine's delegate, each
// with the conformance in its own declaration.

/// A model of the user interface.
@MainActor
final class ObservedNotes: CKSyncEngineDelegate {
    private(set) var titles: [String: String] = [:]
    private(set) var events = 0
    private lazy var engine = CKSyncEngine(
        CKSyncEngine.Configuration(
            database: CKContainer.default().privateCloudDatabase,
            stateSerialization: nil,
            delegate: self
        )
    )

    func rename(_ name: String, _ title: String) async throws {
        titles[name] = title
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(CKRecord.ID(recordName: name))])
        try await engine.sendChanges()
    }

    func refresh() async throws {
        try await engine.fetchChanges()
        events += 1
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        events += 1
        guard case .fetchedRecordZoneChanges(let changes) = event else { return }
        for modification in changes.modifications {
            titles[modification.record.recordID.recordName] = modification.record["title"]
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges
            .filter(context.options.scope.contains)
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
            await self.record(recordID)
        }
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        events += 1
        return context.options
    }

    private func record(_ recordID: CKRecord.ID) -> CKRecord? {
        guard let title = titles[recordID.recordName] else { return nil }
        let record = CKRecord(recordType: "Note", recordID: recordID)
        record["title"] = title
        return record
    }
}

/// The superclass of every screen's model.
@MainActor
class ScreenModel {
    var events = 0
}

/// A subclass is on the main actor because its superclass is.
final class SyncedScreenModel: ScreenModel, CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async { events += 1 }

    nonisolated func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}

/// An app's own global actor.
@globalActor
actor NotesActor {
    static let shared = NotesActor()
}

@NotesActor
final class IsolatedNotes: CKSyncEngineDelegate {
    private var events = 0

    nonisolated init() {}

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async { events += 1 }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        events += 1
        return nil
    }
}

/// A class without state, whose methods need not be async.
final class QuietDelegate: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}

/// A class that guards its own state, open for subclasses.
class LockedDelegate: CKSyncEngineDelegate, @unchecked Sendable {
    // @unchecked Sendable because the lock guards what changes.

    private let lock = NSLock()
    private var events = 0

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        lock.withLock { events += 1 }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        .init(recordsToSave: [CKRecord(recordType: "Note")], atomicByZone: true)
    }
}

/// An app's seam between its engine and its tests, as published libraries have it.
protocol NotesEngine: Sendable {
    associatedtype State
    var state: State { get }
    func fetchChanges(_ options: CKSyncEngine.FetchChangesOptions) async throws
    func sendChanges(_ options: CKSyncEngine.SendChangesOptions) async throws
    func cancelOperations() async
}

extension CKSyncEngine: NotesEngine {}

@Suite("Delegates of CKSyncEngine")
struct CKSyncEngineDelegateCalls {
    @Test("Every kind of class and actor can be an engine's delegate")
    @MainActor
    func kinds() async {
        let delegates: [any CKSyncEngineDelegate] = [
            ObservedNotes(), SyncedScreenModel(), IsolatedNotes(), QuietDelegate(),
            LockedDelegate(), SyncedNotes(), SyncedModel(),
        ]
        let database = CKContainer(identifier: "iCloud.test").privateCloudDatabase
        for delegate in delegates {
            var configuration = CKSyncEngine.Configuration(
                database: database,
                stateSerialization: nil,
                delegate: delegate
            )
            configuration.automaticallySync = false
            #expect(configuration.delegate === delegate)
        }
    }
}
