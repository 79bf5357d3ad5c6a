import CloudKit
import CloudKitCodable
import Foundation
import Support
import Synchronization
import Testing

/// A library that is edited again, or returns to its former state, after saves that were cut off.
struct UnansweredTrial {
    var editing: LibraryEditing
    let phone: CKDatabase
    let laptop: CKDatabase
    let zoneID: CKRecordZone.ID

    /// The number of saves so far.
    private(set) var done = 0

    init(editing: LibraryEditing, phone: CKDatabase, laptop: CKDatabase, zoneID: CKRecordZone.ID) {
        (self.editing, self.phone, self.laptop, self.zoneID) = (editing, phone, laptop, zoneID)
    }

    mutating func run(saves: Int) async throws {
        var graph = try await phone.save(editing.library, in: zoneID)
        while done < saves {
            done += 1
            let before = editing
            for _ in 0..<Int.random(in: 1...3, using: &editing.random) { editing.edit() }
            graph.root = editing.library
            let cut = CutDestination(
                base: phone,
                passing: Int.random(in: 0...1, using: &editing.random),
                arrives: editing.random.chance(75)
            )
            do {
                try await cut.save(&graph, deletingOrphans: editing.random.chance(40))
            } catch let error as CKError where error.code == .networkFailure {}
            switch Int.random(in: 0..<4, using: &editing.random) {
            case 0: editing.edit()
            // Undone: only the sent records show that there is something to save.
            case 1, 2: editing.undo(to: before)
            default: break
            }
            graph.root = editing.library
            try await phone.save(&graph, deletingOrphans: editing.random.chance(40))
            let loaded = try await laptop.graph(Library.self, for: graph.rootID)
            guard loaded.root == editing.library else {
                throw Difference(description: "the loaded library is another")
            }
            let known = Set(loaded.records.map(\.recordID.recordName))
            guard known == editing.library.recordNames else {
                throw Difference(description: "the loaded graph has other records")
            }
            if editing.random.chance(20) {
                graph = loaded
                editing.forgetRemoved()
            }
        }
    }

    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }
}

/// A connection to a database that is cut off after some requests: the next one may arrive or not,
/// and has no response.
private final class CutDestination: CloudKitRecordDestination, CloudKitRecordSource {
    private let base: CKDatabase
    private let arrives: Bool
    private let passing: Mutex<Int>

    init(base: CKDatabase, passing: Int, arrives: Bool) {
        (self.base, self.arrives) = (base, arrives)
        self.passing = Mutex(passing)
    }

    func records(
        withIDs recordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await base.records(withIDs: recordIDs)
    }

    func records(
        ofType recordType: CKRecord.RecordType,
        referringTo recordIDs: [CKRecord.ID],
        via field: CKRecord.FieldKey
    ) async throws -> [CKRecord] {
        try await base.records(ofType: recordType, referringTo: recordIDs, via: field)
    }

    func modify(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        let isCut = passing.withLock { passing in
            passing -= 1
            return passing < 0
        }
        guard isCut else {
            return try await base.modify(
                saving: records,
                deleting: recordIDs,
                savePolicy: savePolicy
            )
        }
        if arrives {
            _ = try await base.modify(saving: records, deleting: recordIDs, savePolicy: savePolicy)
        }
        throw CKError(.networkFailure)
    }
}
