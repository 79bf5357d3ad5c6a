import CloudKit
import Foundation
import Synchronization

/// A small app: contacts by identity, synced by an engine whose delegate it is.
final class Contacts: CKSyncEngineDelegate {
    struct Contact: Sendable {
        var name: String
        /// The server's last known version of the record, without its fields.
        var server: Data?
    }

    struct Contents: Sendable {
        var contacts: [String: Contact] = [:]
        var saved: CKSyncEngine.State.Serialization?
        var story: [String] = []
        var makesZone = true
        /// The user's changes that the server has not acknowledged.
        var unsent: Set<CKSyncEngine.PendingRecordZoneChange> = []
        var engine: CKSyncEngine?
    }

    static let zoneID = CKRecordZone.ID(zoneName: "Contacts")

    /// The zone of the contacts: one of the user's own, or a shared one.
    let zoneID: CKRecordZone.ID
    private let contents: Mutex<Contents>
    private let database: CKDatabase
    private let service: (any SyncEngineService)?
    private let environment: SyncEngineEnvironment
    private let isAutomatic: Bool
    /// A closure that runs inside `handleEvent`, after the app has handled the event.
    private let hook: @Sendable (Contacts, CKSyncEngine.Event, CKSyncEngine) async -> Void
    /// The names of events as they arrive, for tests that wait for one.
    let names: AsyncStream<String>
    private let tellName: AsyncStream<String>.Continuation

    init(
        _ database: CKDatabase,
        contents: Contents = Contents(),
        zoneID: CKRecordZone.ID = Contacts.zoneID,
        isAutomatic: Bool = false,
        service: (any SyncEngineService)? = nil,
        environment: SyncEngineEnvironment = .init(clock: ContinuousClock(), log: { _ in }),
        hook: @escaping @Sendable (Contacts, CKSyncEngine.Event, CKSyncEngine) async -> Void = {
            _,
            _,
            _ in
        }
    ) {
        self.database = database
        self.contents = Mutex(contents)
        self.zoneID = zoneID
        self.isAutomatic = isAutomatic
        self.service = service
        self.environment = environment
        self.hook = hook
        (names, tellName) = AsyncStream.makeStream()
        startEngine()
    }

    func startEngine() {
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: contents.withLock { $0.saved },
            delegate: self
        )
        configuration.automaticallySync = isAutomatic
        let engine =
            service.map {
                CKSyncEngine(configuration, service: $0, environment: environment)
            } ?? CKSyncEngine(configuration)
        contents.withLock { $0.engine = engine }
    }

    func dropEngine() {
        let engine = contents.withLock { contents in
            defer { contents.engine = nil }
            return contents.engine
        }
        // Released outside the lock.
        _ = engine
    }

    var engine: CKSyncEngine { contents.withLock { $0.engine! } }
    var kept: Contents { contents.withLock { $0 } }
    var story: [String] { contents.withLock { $0.story } }
    var list: [String: String] { contents.withLock { $0.contacts.mapValues(\.name) } }

    // MARK: The user

    func save(_ contacts: [String: String]) {
        contents.withLock { contents in
            for (id, name) in contacts {
                contents.contacts[id, default: .init(name: "")].name = name
            }
        }
        note(contacts.keys.sorted().map { .saveRecord(recordID($0)) })
    }

    func delete(_ ids: [String]) {
        contents.withLock { contents in
            for id in ids { contents.contacts[id] = nil }
        }
        note(ids.map { .deleteRecord(recordID($0)) })
    }

    private func note(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        contents.withLock { contents in
            for change in changes {
                contents.unsent.remove(.saveRecord(change.recordID))
                contents.unsent.remove(.deleteRecord(change.recordID))
                contents.unsent.insert(change)
            }
        }
        engine.state.add(pendingRecordZoneChanges: changes)
    }

    /// Adds all edits to the engine again: a state that was saved before one of them lacks it.
    func resend() {
        let changes = kept.unsent.sorted { "\($0)" < "\($1)" }
        engine.state.add(pendingRecordZoneChanges: changes)
    }

    /// Forgets an account's data, as an app does when the account changes.
    func forget() {
        contents.withLock { contents in
            contents.contacts = [:]
            contents.unsent = []
        }
    }

    func recordID(_ id: String) -> CKRecord.ID {
        CKRecord.ID(recordName: id, zoneID: zoneID)
    }

    static func recordID(_ id: String) -> CKRecord.ID {
        CKRecord.ID(recordName: id, zoneID: zoneID)
    }

    // MARK: The delegate

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let pending = syncEngine.state.pendingRecordZoneChanges
            .filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { recordID in
            guard let record = self.record(recordID) else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
                return nil
            }
            return record
        }
    }

    private func record(_ recordID: CKRecord.ID) -> CKRecord? {
        contents.withLock { contents in
            guard let contact = contents.contacts[recordID.recordName] else { return nil }
            let record =
                contact.server.flatMap(Self.unarchive)
                ?? CKRecord(recordType: "Contact", recordID: recordID)
            record["name"] = contact.name
            return record
        }
    }

    private static func archive(_ record: CKRecord) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        return archiver.encodedData
    }

    private static func unarchive(_ data: Data) -> CKRecord? {
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        unarchiver.requiresSecureCoding = true
        return CKRecord(coder: unarchiver)
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        let name = "\(event)".split(separator: " ").first.map(String.init) ?? ""
        contents.withLock { $0.story.append(name) }
        switch event {
        case .stateUpdate(let event): contents.withLock { $0.saved = event.stateSerialization }
        case .accountChange(let event):
            if case .signIn = event.changeType, kept.makesZone {
                syncEngine.state.add(
                    pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))]
                )
            }
        case .fetchedDatabaseChanges(let event):
            if event.deletions.contains(where: { $0.zoneID == zoneID }) {
                contents.withLock { $0.contacts = [:] }
            }
        case .fetchedRecordZoneChanges(let event):
            for modification in event.modifications { merge(modification.record, syncEngine) }
            for deletion in event.deletions {
                contents.withLock { $0.contacts[deletion.recordID.recordName] = nil }
            }
        case .sentRecordZoneChanges(let event): sent(event, syncEngine)
        default: break
        }
        await hook(self, event, syncEngine)
        tellName.yield(name)
    }

    private func merge(_ record: CKRecord, _ engine: CKSyncEngine) {
        // A shared zone contains its share too.
        guard record.recordType == "Contact" else { return }
        let isPending = engine.state.pendingRecordZoneChanges
            .contains(.saveRecord(record.recordID))
        contents.withLock { contents in
            var contact =
                contents.contacts[record.recordID.recordName] ?? Contact(name: record["name"] ?? "")
            if !isPending { contact.name = record["name"] ?? "" }
            contact.server = Self.archive(record)
            contents.contacts[record.recordID.recordName] = contact
        }
    }

    private func sent(
        _ event: CKSyncEngine.Event.SentRecordZoneChanges,
        _ engine: CKSyncEngine
    ) {
        for record in event.savedRecords {
            contents.withLock {
                $0.contacts[record.recordID.recordName]?.server = Self.archive(record)
                $0.unsent.remove(.saveRecord(record.recordID))
            }
        }
        for recordID in event.deletedRecordIDs {
            contents.withLock { _ = $0.unsent.remove(.deleteRecord(recordID)) }
        }
        for failure in event.failedRecordSaves {
            let recordID = failure.record.recordID
            switch failure.error.code {
            case .serverRecordChanged:
                guard let server = failure.error.serverRecord else { continue }
                contents.withLock { contents in
                    // The server's name wins.
                    contents.contacts[recordID.recordName] =
                        Contact(name: server["name"] ?? "", server: Self.archive(server))
                }
            case .zoneNotFound where kept.makesZone:
                engine.state.add(
                    pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: recordID.zoneID))]
                )
                contents.withLock { $0.contacts[recordID.recordName]?.server = nil }
            case .unknownItem: contents.withLock { $0.contacts[recordID.recordName]?.server = nil }
            default: continue
            }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
        }
    }
}
