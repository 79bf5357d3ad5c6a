// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit

/// Compiled, not run: a view's model, which calls everything from the main actor and stores the
/// results.
@MainActor
final class NotesModel {
    private let container: CKContainer
    private let database: CKDatabase
    private(set) var notes: [CKRecord] = []
    private(set) var message = ""
    private var cursor: CKQueryOperation.Cursor?
    private var token: CKServerChangeToken?

    init(container: CKContainer = .default()) {
        self.container = container
        database = container.privateCloudDatabase
    }

    func load(titled title: String) async {
        do {
            guard try await container.accountStatus() == .available else { return }
            let query = CKQuery(
                recordType: "Note",
                predicate: NSPredicate(format: "title BEGINSWITH %@", title)
            )
            query.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
            let (matches, cursor) = try await database.records(
                matching: query,
                inZoneWith: nil,
                desiredKeys: ["title"],
                resultsLimit: 50
            )
            notes = matches.compactMap { try? $0.1.get() }
            self.cursor = cursor
            if let cursor {
                let (more, _) = try await database.records(continuingMatchFrom: cursor)
                notes += try more.map { try $0.1.get() }
            }
        } catch let error as CKError where error.code == .networkUnavailable {
            message = error.localizedDescription
        } catch {
            message = "\(error)"
        }
    }

    func save(_ note: CKRecord, deleting old: CKRecord.ID) async throws {
        let saved = try await database.save(note)
        notes.append(saved)
        let (saves, deletions) = try await database.modifyRecords(
            saving: notes,
            deleting: [old],
            savePolicy: .changedKeys,
            atomically: false
        )
        notes = try saves.values.map { try $0.get() }
        for (_, result) in deletions { try result.get() }
        try await database.deleteRecord(withID: old)
    }

    func changes(in zone: CKRecordZone) async throws {
        let zone = try await database.save(zone)
        var more = true
        while more {
            let changes = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: token
            )
            for (_, result) in changes.modificationResultsByID {
                notes.append(try result.get().record)
            }
            notes.removeAll { note in changes.deletions.contains { $0.recordID == note.recordID } }
            token = changes.changeToken
            more = changes.moreComing
        }
    }

    func configured() async throws {
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .userInitiated
        let records = try await database.configuredWith(configuration: configuration) { database in
            try await database.records(for: [CKRecord.ID(recordName: "a")])
        }
        notes = records.values.compactMap { try? $0.get() }
        try await container.configuredWith(configuration: configuration) { container in
            _ = try await container.userRecordID()
        }
    }

    func share(_ note: CKRecord) async throws -> URL? {
        let share = CKShare(rootRecord: note)
        share[CKShare.SystemFieldKey.title] = note["title"] as? String
        let participant = try await container.shareParticipant(forEmailAddress: "bob@example.com")
        participant.permission = .readWrite
        share.addParticipant(participant)
        _ = try await database.modifyRecords(saving: [note, share], deleting: [])
        return share.url
    }

    func callbacks() {
        database.fetch(withRecordID: CKRecord.ID(recordName: "a")) { record, error in
            Later.onMain {
                if let record { self.notes.append(record) }
                self.message = error?.localizedDescription ?? ""
            }
        }
        let operation = CKFetchRecordsOperation(recordIDs: [])
        operation.perRecordResultBlock = { [weak self] _, result in
            Later.onMain { if let record = try? result.get() { self?.notes.append(record) } }
        }
        database.add(operation)
    }
}

/// Ways in which apps return to the main actor.
enum Later {
    static func onMain(_ body: @escaping @MainActor () -> Void) {
        DispatchQueue.main.async { body() }
    }
}
