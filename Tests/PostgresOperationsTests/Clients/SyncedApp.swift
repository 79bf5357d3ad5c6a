#if PostgreSQL
import CloudKit
import CloudKitExtras
import Synchronization

/// A small app of one device, whose names an engine syncs.
final class SyncedApp: CKSyncEngineDelegate {
    private struct State {
        var names: Set<String> = []
        var saved: Set<String> = []
        var engine: CKSyncEngine?
    }

    private static let zoneID = CKRecordZone.ID(zoneName: "Names")
    private let state = Mutex(State())

    init(_ database: CKDatabase) {
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: nil,
            delegate: self
        )
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        state.withLock { $0.engine = engine }
    }

    private var engine: CKSyncEngine? { state.withLock { $0.engine } }

    /// The names that it has fetched.
    var names: Set<String> { state.withLock { $0.names } }
    /// The names of which the engine has told that they were saved.
    var saved: Set<String> { state.withLock { $0.saved } }

    /// Adds names, and tries to send what was not sent.
    func add(_ names: [String]) async {
        guard let engine else { return }
        engine.state.add(
            pendingDatabaseChanges: names.isEmpty
                ? [] : [.saveZone(CKRecordZone(zoneID: Self.zoneID))]
        )
        engine.state.add(
            pendingRecordZoneChanges: names.map {
                .saveRecord(CKRecord.ID(recordName: $0, zoneID: Self.zoneID))
            }
        )
        // The engine keeps what it could not send.
        try? await engine.sendChanges()
    }

    /// Returns whether the engine has sent everything.
    var isDone: Bool { engine?.state.pendingRecordZoneChanges.isEmpty ?? true }

    /// Tries to fetch what it does not know.
    func fetch() async throws { try await engine?.fetchChanges() }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let pending = syncEngine.state.pendingRecordZoneChanges
            .filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) {
            CKRecord(recordType: "Name", recordID: $0)
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .fetchedRecordZoneChanges(let changes):
            // The engine fetches all zones of the user.
            let names = changes.modifications.map(\.record.recordID)
                .filter { $0.zoneID == Self.zoneID }
                .map(\.recordName)
            state.withLock { $0.names.formUnion(names) }
        case .sentRecordZoneChanges(let changes):
            let names = changes.savedRecords.map(\.recordID.recordName)
            state.withLock { $0.saved.formUnion(names) }
            for failure in changes.failedRecordSaves
            where failure.error.code == .serverRecordChanged {
                // It was saved by a request whose response was lost.
                syncEngine.state.remove(
                    pendingRecordZoneChanges: [.saveRecord(failure.record.recordID)]
                )
            }
        default: break
        }
    }
}
#endif
