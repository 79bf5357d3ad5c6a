import CloudKit

/// The stored data of an app on one device, and its reactions to its engine.
///
/// A row has two fields. Every edit has a number, higher than all before on any device, which is also
/// the value that it writes; so a merge takes the higher value of each field, and a lost edit is
/// visible.
struct ModelApp {
    struct Row {
        var fields = [0, 0]
        /// The version in which the row was last fetched from the server.
        var server: CKRecord?
    }

    /// A closure that passes a signal to the engine.
    typealias Tell = (SyncEngineSignal) -> Void

    /// Names that several devices create independently; such rows are never deleted.
    static let commonNames = ["common1", "common2"]

    /// `true` when the app keeps its own list of unsent changes, instead of the engine's.
    let isTracking: Bool
    /// `true` when a zone that was deleted is created again for new edits.
    let makesZonesAgain: Bool

    var user: String?
    /// The rows of each user by zone and name.
    private(set) var rows: [String: [CKRecord.ID: Row]] = [:]
    private(set) var tombstones: [String: Set<CKRecord.ID>] = [:]
    /// The changes that the server does not have yet, oldest first.
    private(set) var unsent: [String: [CKRecord.ID]] = [:]

    private(set) var savedState: CKSyncEngine.State.Serialization?
    /// The changes that were added since the state was last saved, and must be added again after a
    /// crash.
    private var unsaved: [CKSyncEngine.PendingRecordZoneChange] = []
    private var unsavedZones: [CKSyncEngine.PendingDatabaseChange] = []

    init(isTracking: Bool, makesZonesAgain: Bool) {
        self.isTracking = isTracking
        self.makesZonesAgain = makesZonesAgain
    }

    func rows(of user: String) -> [CKRecord.ID: Row] { rows[user] ?? [:] }

    // MARK: The user's doings

    mutating func edit(_ recordID: CKRecord.ID, field: Int, number: Int, tell: Tell) {
        guard let user, !(tombstones[user]?.contains(recordID) ?? false) else { return }
        rows[user, default: [:]][recordID, default: Row()].fields[field] = number
        changed(recordID, isDeletion: false, tell)
    }

    mutating func delete(_ recordID: CKRecord.ID, tell: Tell) {
        guard let user else { return }
        rows[user]?[recordID] = nil
        tombstones[user, default: []].insert(recordID)
        changed(recordID, isDeletion: true, tell)
    }

    mutating func save(zone name: String, tell: Tell) {
        add(.saveZone(CKRecordZone(zoneName: name)), tell)
    }

    /// Deletes the rows when the zone is deleted: until then the deletion may be taken back.
    mutating func delete(zone name: String, tell: Tell) {
        add(.deleteZone(CKRecordZone.ID(zoneName: name)), tell)
    }

    private mutating func add(_ change: CKSyncEngine.PendingDatabaseChange, _ tell: Tell) {
        unsavedZones.removeAll { $0.zoneID.isEqual(change.zoneID) }
        unsavedZones.append(change)
        tell(.addDatabaseChanges([change]))
    }

    private mutating func changed(
        _ recordID: CKRecord.ID,
        isDeletion: Bool,
        _ tell: Tell,
        byDelegate: Bool = false
    ) {
        guard let user else { return }
        unsent[user]?.removeAll { $0 == recordID }
        unsent[user, default: []].append(recordID)
        if isTracking {
            tell(.untrackedChanges(true))
        } else {
            let change: CKSyncEngine.PendingRecordZoneChange =
                isDeletion ? .deleteRecord(recordID) : .saveRecord(recordID)
            unsaved.removeAll { $0.recordID == recordID }
            unsaved.append(change)
            tell(.addRecordChanges([change], byDelegate: byDelegate))
        }
    }

    /// Restarts the app after a crash.
    func restart(tell: Tell) {
        if isTracking {
            if let user, !(unsent[user] ?? []).isEmpty { tell(.untrackedChanges(true)) }
        } else {
            tell(.addRecordChanges(unsaved, byDelegate: false))
        }
        tell(.addDatabaseChanges(unsavedZones))
    }

    // MARK: The delegate

    /// Returns at most three items, so that most sends take several batches.
    func batch(
        _ context: CKSyncEngine.SendChangesContext,
        pending: [CKSyncEngine.PendingRecordZoneChange],
        tell: Tell
    ) -> CKSyncEngine.RecordZoneChangeBatch? {
        var batch = CKSyncEngine.RecordZoneChangeBatch()
        let scope = context.options.scope
        if isTracking {
            for recordID in unsent[user ?? ""] ?? [] where scope.contains(recordID) {
                if let record = record(recordID) {
                    batch.recordsToSave.append(record)
                } else {
                    batch.recordIDsToDelete.append(recordID)
                }
                if batch.recordsToSave.count + batch.recordIDsToDelete.count == 3 { break }
            }
        } else {
            for change in pending where scope.contains(change) {
                switch change {
                case .saveRecord(let recordID):
                    if let record = record(recordID) {
                        batch.recordsToSave.append(record)
                    } else {
                        tell(.removeRecordChanges([change]))
                    }
                case .deleteRecord(let recordID): batch.recordIDsToDelete.append(recordID)
                }
                if batch.recordsToSave.count + batch.recordIDsToDelete.count == 3 { break }
            }
        }
        return batch.recordsToSave.isEmpty && batch.recordIDsToDelete.isEmpty ? nil : batch
    }

    /// Returns the record of a row, whichever user's it is: the engine must keep users apart.
    private func record(_ recordID: CKRecord.ID) -> CKRecord? {
        let row =
            rows[user ?? ""]?[recordID]
            ?? rows.keys.sorted().lazy.compactMap { rows[$0]?[recordID] }.first
        guard let row else { return nil }
        let record =
            row.server?.copy() as? CKRecord ?? CKRecord(recordType: "Row", recordID: recordID)
        for (index, value) in row.fields.enumerated() { record["f\(index)"] = value }
        return record
    }

    mutating func handle(_ event: CKSyncEngine.Event, tell: Tell) {
        switch event {
        case .stateUpdate(let event): keep(event.stateSerialization)
        case .accountChange(let event): accountChanged(event.changeType, tell)
        case .fetchedDatabaseChanges(let event):
            for deletion in event.deletions { drop(deletion.zoneID, tell) }
        case .fetchedRecordZoneChanges(let event):
            for modification in event.modifications { merge(modification.record) }
            for deletion in event.deletions { gone(deletion.recordID, tell) }
        case .sentRecordZoneChanges(let event): sent(event, tell)
        case .sentDatabaseChanges(let event):
            for zoneID in event.deletedZoneIDs { drop(zoneID, tell) }
            let given = event.failedZoneSaves.filter { $0.error.code == .userDeletedZone }
            let done =
                event.savedZones.map(\.zoneID) + event.deletedZoneIDs + given.map(\.zone.zoneID)
            unsavedZones.removeAll { done.contains($0.zoneID) }
        default: break
        }
    }

    private mutating func keep(_ state: CKSyncEngine.State.Serialization) {
        savedState = state
        guard let contents = try? state.contents.get() else { return }
        unsaved.removeAll { contents.pendingRecordZoneChanges.contains($0) }
        unsavedZones.removeAll { contents.pendingDatabaseChanges.contains($0) }
    }

    private mutating func accountChanged(
        _ change: CKSyncEngine.Event.AccountChange.ChangeType,
        _ tell: Tell
    ) {
        if let user {
            // A fetch from the beginning reports no deletions, so there must be no rows before it.
            let waiting = unsent[user] ?? []
            rows[user] = (rows[user] ?? [:]).filter { waiting.contains($0.key) }
        }
        switch change {
        case .signIn(let current), .switchAccounts(_, let current): user = current.recordName
        case .signOut: user = nil
        }
        // The changes that were added between the engine's and the app's reaction to the new user.
        tell(.removeRecordChanges(unsaved))
        tell(.removeDatabaseChanges(unsavedZones))
        unsaved = []
        unsavedZones = []
        guard let user else { return }
        for recordID in unsent[user] ?? [] {
            changed(recordID, isDeletion: rows[user]?[recordID] == nil, tell, byDelegate: true)
        }
    }

    private mutating func drop(_ zoneID: CKRecordZone.ID, _ tell: Tell) {
        guard let user else { return }
        let gone = (rows[user] ?? [:]).keys.filter { $0.zoneID == zoneID }
        for recordID in gone { rows[user]?[recordID] = nil }
        let waiting = (unsent[user] ?? []).filter { $0.zoneID == zoneID }
        unsent[user]?.removeAll { $0.zoneID == zoneID }
        unsaved.removeAll { $0.recordID.zoneID == zoneID }
        tell(.removeRecordChanges(waiting.flatMap { [.saveRecord($0), .deleteRecord($0)] }))
    }

    private mutating func merge(_ record: CKRecord) {
        // A device whose creation got no response may recreate a row that another has deleted; only a
        // deletion that still waits prevents this.
        guard let user,
            rows[user]?[record.recordID] != nil
                || !(unsent[user]?.contains(record.recordID) ?? false)
        else { return }
        tombstones[user]?.remove(record.recordID)
        var row = rows[user]?[record.recordID] ?? Row()
        for index in row.fields.indices {
            row.fields[index] = max(row.fields[index], (record["f\(index)"] as Int?) ?? 0)
        }
        row.server = record
        rows[user, default: [:]][record.recordID] = row
    }

    private mutating func gone(_ recordID: CKRecord.ID, _ tell: Tell) {
        guard let user else { return }
        rows[user]?[recordID] = nil
        tombstones[user, default: []].insert(recordID)
        unsent[user]?.removeAll { $0 == recordID }
        unsaved.removeAll { $0.recordID == recordID }
        tell(.removeRecordChanges([.saveRecord(recordID)]))
    }

    private mutating func sent(
        _ event: CKSyncEngine.Event.SentRecordZoneChanges,
        _ tell: Tell
    ) {
        guard let user else { return }
        for record in event.savedRecords {
            guard var row = rows[user]?[record.recordID] else { continue }
            row.server = record
            rows[user]?[record.recordID] = row
            let sent = row.fields.indices.map { (record["f\($0)"] as Int?) ?? 0 }
            if sent == row.fields { unsent[user]?.removeAll { $0 == record.recordID } }
        }
        for recordID in event.deletedRecordIDs { unsent[user]?.removeAll { $0 == recordID } }
        for failure in event.failedRecordSaves { failed(failure.record, failure.error, tell) }
        for (recordID, error) in event.failedRecordDeletes where error.code == .zoneNotFound {
            unsent[user]?.removeAll { $0 == recordID }
        }
        if isTracking, (unsent[user] ?? []).isEmpty { tell(.untrackedChanges(false)) }
    }

    private mutating func failed(_ record: CKRecord, _ error: CKError, _ tell: Tell) {
        guard let user, rows[user]?[record.recordID] != nil else { return }
        let recordID = record.recordID
        switch error.code {
        case .serverRecordChanged:
            if let server = error.serverRecord { merge(server) }
        case .zoneNotFound:
            guard makesZonesAgain || recordID.zoneID.zoneName == Simulation.lastingZone else {
                drop(recordID.zoneID, tell)
                return
            }
            rows[user]?[recordID]?.server = nil
            add(.saveZone(CKRecordZone(zoneID: recordID.zoneID)), tell)
        case .unknownItem:
            guard Self.commonNames.contains(recordID.recordName) else {
                gone(recordID, tell)
                return
            }
            rows[user]?[recordID]?.server = nil
        case .batchRequestFailed: break
        default: return
        }
        changed(recordID, isDeletion: false, tell, byDelegate: true)
    }
}
