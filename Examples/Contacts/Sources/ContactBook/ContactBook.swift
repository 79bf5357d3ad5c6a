public import CloudKit
import Foundation

/// A local file of contacts that are the same on all of a user's devices.
///
/// Every change is first written to the file and then reported to the engine, which sends it soon.
/// Changes of other devices arrive through `handleEvent`.
public final actor ContactBook {
    /// The zone of all contacts.
    static let zoneID = CKRecordZone.ID(zoneName: "Contacts")

    private let url: URL
    private let database: CKDatabase
    private let automaticallySync: Bool
    private let report: @Sendable (String) -> Void
    private var file: ContactsFile
    private var startedEngine: CKSyncEngine?

    /// Opens a book.
    ///
    /// - Parameters:
    ///   - url: The file, created when it does not exist.
    ///   - database: The user's private database.
    ///   - automaticallySync: Whether changes are sent and fetched automatically.
    ///   - report: Receives descriptions of other devices' changes, and of failures.
    /// - Throws: When the file cannot be read.
    public init(
        at url: URL,
        database: CKDatabase,
        automaticallySync: Bool = true,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        self.url = url
        self.database = database
        self.automaticallySync = automaticallySync
        self.report = report
        file = try ContactsFile(at: url)
    }

    /// Starts syncing; call it when the app starts.
    public func start() {
        _ = engine
    }

    private var engine: CKSyncEngine {
        if let startedEngine { return startedEngine }
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: file.syncState,
            delegate: self
        )
        configuration.automaticallySync = automaticallySync
        let engine = CKSyncEngine(configuration)
        startedEngine = engine
        // The changes just before the last exit may be missing from the engine's state.
        engine.state.add(pendingRecordZoneChanges: file.unsent.sorted().map(pendingChange))
        return engine
    }

    // MARK: What the user does

    /// All contacts by name.
    public var contacts: [Contact] {
        file.contacts.values.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }

    /// Adds a contact, or changes the one with the same identity.
    public func save(_ contact: Contact) throws {
        var contact = contact
        contact.systemFields = file.contacts[contact.id]?.systemFields
        file.contacts[contact.id] = contact
        try changed(contact.id)
    }

    /// Deletes a contact.
    public func delete(_ id: Contact.ID) throws {
        file.contacts[id] = nil
        try changed(id)
    }

    /// Fetches and sends immediately.
    ///
    /// - Throws: `CKError` when the service cannot be reached, or a change conflicts with another
    ///   device's.
    public func sync() async throws {
        try await engine.fetchChanges()
        try await engine.sendChanges()
    }

    private func changed(_ id: Contact.ID) throws {
        file.unsent.insert(id)
        try file.write(to: url)
        engine.state.add(pendingRecordZoneChanges: [pendingChange(id)])
    }

    private func pendingChange(_ id: Contact.ID) -> CKSyncEngine.PendingRecordZoneChange {
        let recordID = CKRecord.ID(recordName: id, zoneID: Self.zoneID)
        return file.contacts[id] == nil ? .deleteRecord(recordID) : .saveRecord(recordID)
    }

    /// Changes the file; if the disk is full or missing, this is reported, and the change kept in
    /// memory.
    private func keep(_ change: (inout ContactsFile) -> Void) {
        change(&file)
        do {
            try file.write(to: url)
        } catch {
            report("\(url.path) cannot be written: \(error)")
        }
    }
}

// MARK: What the engine says

extension ContactBook: CKSyncEngineDelegate {
    /// Returns the changed contacts as records for the engine.
    public func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        let contacts = file.contacts
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
            guard let contact = contacts[recordID.recordName] else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
                return nil
            }
            return contact.record(recordID)
        }
    }

    /// Updates the file after an event.
    public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update): keep { $0.syncState = update.stateSerialization }
        case .accountChange(let change): accountChanged(change.changeType, syncEngine)
        case .fetchedDatabaseChanges(let changes):
            if changes.deletions.contains(where: { $0.zoneID == Self.zoneID }) {
                keep { $0.contacts = [:] }
                report("all contacts were deleted on another device")
            }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { take(modification.record) }
            for deletion in changes.deletions { takeDeletion(of: deletion.recordID) }
        case .sentRecordZoneChanges(let sent): take(sent, syncEngine)
        default: break
        }
    }

    private func accountChanged(
        _ change: CKSyncEngine.Event.AccountChange.ChangeType,
        _ engine: CKSyncEngine
    ) {
        switch change {
        case .signIn:
            engine.state.add(
                pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zoneID))]
            )
            engine.state.add(pendingRecordZoneChanges: file.unsent.sorted().map(pendingChange))
        case .signOut, .switchAccounts:
            // The contacts were the last user's.
            keep { file in
                file.contacts = [:]
                file.unsent = []
            }
        @unknown default: break
        }
    }

    /// Stores a contact from another device, unless a local change of it still waits to be sent.
    private func take(_ record: CKRecord) {
        let id = record.recordID.recordName
        guard !file.unsent.contains(id) else {
            keep { $0.contacts[id]?.systemFields = record.systemFields }
            return
        }
        let contact = Contact(record)
        let isNews =
            file.contacts[id]?.name != contact.name
            || file.contacts[id]?.phone != contact.phone
        keep { $0.contacts[id] = contact }
        if isNews { report("\(contact.name) \(contact.phone)") }
    }

    private func takeDeletion(of recordID: CKRecord.ID) {
        let id = recordID.recordName
        guard let contact = file.contacts[id] else { return }
        keep { file in
            file.contacts[id] = nil
            file.unsent.remove(id)
        }
        report("\(contact.name) was deleted on another device")
    }

    private func take(
        _ sent: CKSyncEngine.Event.SentRecordZoneChanges,
        _ engine: CKSyncEngine
    ) {
        keep { file in
            for record in sent.savedRecords {
                let id = record.recordID.recordName
                file.contacts[id]?.systemFields = record.systemFields
                // An edit that was made while the record was in flight still has to be sent.
                let saved = Contact(record)
                if let contact = file.contacts[id], contact.name == saved.name,
                    contact.phone == saved.phone
                {
                    file.unsent.remove(id)
                }
            }
            for recordID in sent.deletedRecordIDs where file.contacts[recordID.recordName] == nil {
                file.unsent.remove(recordID.recordName)
            }
        }
        for failure in sent.failedRecordSaves { take(failure, engine) }
    }

    private func take(
        _ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave,
        _ engine: CKSyncEngine
    ) {
        let recordID = failure.record.recordID
        let id = recordID.recordName
        switch failure.error.code {
        case .serverRecordChanged:
            guard let server = failure.error.serverRecord else { return }
            // The last edit wins: this device's values, on the server's version.
            keep { $0.contacts[id]?.systemFields = server.systemFields }
        case .zoneNotFound:
            engine.state.add(
                pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: recordID.zoneID))]
            )
            keep { $0.contacts[id]?.systemFields = nil }
        case .unknownItem: keep { $0.contacts[id]?.systemFields = nil }
        case .networkFailure, .networkUnavailable, .requestRateLimited, .serviceUnavailable,
            .zoneBusy, .notAuthenticated, .accountTemporarilyUnavailable, .operationCancelled:
            // The engine retries automatically.
            return
        default:
            report("\(failure.record["name"] ?? id) could not be sent: \(failure.error)")
            return
        }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
    }
}
