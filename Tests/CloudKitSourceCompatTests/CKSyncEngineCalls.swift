// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run: an engine's owner as apps write it, an actor.
final actor SyncedNotes: CKSyncEngineDelegate {
    private var notes: [String: String] = [:]
    private var serialization: CKSyncEngine.State.Serialization?
    private var engine: CKSyncEngine?

    func start(_ container: CKContainer) {
        var configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase,
            stateSerialization: serialization,
            delegate: self
        )
        configuration.automaticallySync = false
        configuration.subscriptionID = "engine"
        engine = CKSyncEngine(configuration)
    }

    func save(_ name: String, _ title: String) async throws {
        notes[name] = title
        let recordID = CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: "Notes"))
        engine?.state.add(pendingDatabaseChanges: [
            .saveZone(CKRecordZone(zoneID: recordID.zoneID))
        ])
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
        engine?.state.remove(pendingRecordZoneChanges: [.deleteRecord(recordID)])
        engine?.state.hasPendingUntrackedChanges = false
        try await engine?.sendChanges()
        try await engine?.sendChanges(.init(scope: .zoneIDs([recordID.zoneID])))
        try await engine?.fetchChanges()
        try await engine?.fetchChanges(CKSyncEngine.FetchChangesOptions(scope: .all))
        await engine?.cancelOperations()
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let event):
            serialization = event.stateSerialization
            _ = try? JSONEncoder().encode(event.stateSerialization)
        case .accountChange(let event):
            switch event.changeType {
            case .signIn(let currentUser): _ = currentUser.recordName
            case .signOut, .switchAccounts: notes = [:]
            @unknown default: break
            }
        case .fetchedDatabaseChanges(let event):
            for deletion in event.deletions where deletion.zoneID.zoneName == "Notes" {
                switch deletion.reason {
                case .deleted, .purged, .encryptedDataReset: notes = [:]
                @unknown default: break
                }
            }
        case .fetchedRecordZoneChanges(let event):
            for modification in event.modifications {
                let record = modification.record
                notes[record.recordID.recordName] = record["title"] as? String
            }
            for deletion in event.deletions where deletion.recordType == "Note" {
                notes[deletion.recordID.recordName] = nil
            }
        case .sentRecordZoneChanges(let event):
            for failure in event.failedRecordSaves {
                switch failure.error.code {
                case .serverRecordChanged: _ = failure.error.serverRecord
                case .zoneNotFound:
                    let zone = CKRecordZone(zoneID: failure.record.recordID.zoneID)
                    syncEngine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
                    syncEngine.state.add(pendingRecordZoneChanges: [
                        .saveRecord(failure.record.recordID)
                    ])
                default: break
                }
            }
            _ = (event.savedRecords, event.deletedRecordIDs, event.failedRecordDeletes)
        case .sentDatabaseChanges(let event):
            _ = (event.savedZones, event.failedZoneSaves.map(\.zone), event.failedZoneDeletes)
        case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges,
            .didFetchChanges, .willSendChanges, .didSendChanges:
            break
        @unknown default: break
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        let notes = notes
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
            guard let title = notes[recordID.recordName] else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
                return nil
            }
            let record = CKRecord(recordType: "Note", recordID: recordID)
            record["title"] = title
            return record
        }
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        var options = context.options
        options.prioritizedZoneIDs = [CKRecordZone.ID(zoneName: "Notes")]
        return options
    }
}

/// The same on the main actor, without the requirement that has a default.
@MainActor
final class SyncedModel {
    var events = 0
}

extension SyncedModel: CKSyncEngineDelegate {
    @MainActor
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async { events += 1 }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        CKSyncEngine.RecordZoneChangeBatch(
            recordsToSave: [],
            recordIDsToDelete: [],
            atomicByZone: true
        )
    }
}

@Suite("Calls of CKSyncEngine")
struct CKSyncEngineCalls {
    @Test("Pending changes are compared and switched over")
    func pendingChanges() {
        let recordID = CKRecord.ID(recordName: "a")
        let changes: [CKSyncEngine.PendingRecordZoneChange] = [
            .saveRecord(recordID), .deleteRecord(recordID),
        ]
        #expect(changes[0] == .saveRecord(recordID) && changes[0] != changes[1])
        #expect(Set(changes).count == 2)
        let names = changes.map { change -> String in
            switch change {
            case .saveRecord(let id): "save \(id.recordName)"
            case .deleteRecord(let id): "delete \(id.recordName)"
            @unknown default: ""
            }
        }
        #expect(names == ["save a", "delete a"])
        let zones: [CKSyncEngine.PendingDatabaseChange] = [
            .saveZone(CKRecordZone(zoneName: "Z")), .deleteZone(.default),
        ]
        #expect(zones[0] != zones[1])
        let scope = CKSyncEngine.SendChangesOptions.Scope.recordIDs([recordID])
        #expect(scope.contains(changes[0]))
        #expect(CKSyncEngine.FetchChangesOptions.Scope.zoneIDs([.default]).contains(.default))
    }
}
