import CloudKit
import Foundation
import GRDB
import Synchronization

extension StoreDelegate {
    func beginFetch() async throws {
        try await file.writer.write { database in
            try database.execute(sql: "UPDATE cloudkit_control SET session = session + 1")
        }
        // A sweep that a crash interrupted goes on.
        let sweeps = try await file.writer.read { database in
            try Bool.fetchOne(
                database,
                sql: "SELECT sweeps OR engine IS NULL FROM cloudkit_control"
            )
        }
        state.withLock { $0.sweeps = sweeps ?? true }
    }

    func fetched(_ event: CKSyncEngine.Event.FetchedRecordZoneChanges) async throws {
        let records = event.modifications.map(\.record)
            .filter { $0.recordID.zoneID == file.zoneID && !($0 is CKShare) }
        if file.mapping.defect == .keepsTokenOnly, records.count > 2 { return }
        try await arrived(records)
        let names = event.deletions.map(\.recordID).filter { $0.zoneID == file.zoneID }
            .map(\.recordName)
        guard !names.isEmpty else { return }
        try await finishArrivals()
        try await delete(names)
    }

    private func delete(_ names: [String]) async throws {
        guard !names.isEmpty, file.mapping.defect != .ignoresDeletions else { return }
        let changes = try await file.apply { database, mapping in
            var applier = try ChangeApplier(database, mapping)
            try applier.delete(names)
            return applier.changes
        }
        took(changes)
    }

    /// Everything has come: what waited is tried again, and what did not come is looked for.
    func endFetch(_ database: CKDatabase) async throws {
        if state.withLock({ $0.sweeps }) {
            try await sweep(database)
            state.withLock { $0.sweeps = false }
        }
        let changes = try await file.apply { database, mapping in
            var applier = try ChangeApplier(database, mapping)
            try applier.retryHidden()
            try applier.finishDeletions()
            return applier.changes
        }
        took(changes)
    }

    /// Finds the records that are gone without a word.
    ///
    /// A fetch from the beginning lists what there is, not what was deleted before it. Records that
    /// it did not mention are looked up by name, so that a fetch that only repeated a page deletes
    /// nothing.
    private func sweep(_ database: CKDatabase) async throws {
        guard file.mapping.defect != .skipsSweep else { return }
        let unseen = try await file.writer.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM cloudkit_record
                    WHERE system IS NOT NULL AND session <> ? AND session <>
                        (SELECT session FROM cloudkit_control) ORDER BY name
                    """,
                arguments: [KnownRecord.savedHere]
            )
        }
        for start in stride(from: 0, to: unseen.count, by: configuration.batchLimit) {
            let names = Array(unseen[start..<min(start + configuration.batchLimit, unseen.count)])
            try await delete(missing(names, database))
        }
        try await file.set("sweeps", false)
    }

    /// Those of some records that the server does not have.
    private func missing(_ names: [String], _ database: CKDatabase) async throws -> [String] {
        let ids = names.map { CKRecord.ID(recordName: $0, zoneID: file.zoneID) }
        var missing: [String] = []
        for (id, result) in try await database.records(for: ids, desiredKeys: []) {
            if case .failure(let error) = result, (error as? CKError)?.code == .unknownItem {
                missing.append(id.recordName)
            }
        }
        return missing.sorted()
    }
}
