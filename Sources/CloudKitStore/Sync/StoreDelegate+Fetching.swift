import CloudKit
import Foundation
import GRDB
import Synchronization

extension StoreDelegate {
    /// The most records of one transaction, so that other writers never wait long.
    private static let transactionLimit = 100

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
        let mapping = file.mapping
        var rest = event.modifications.map(\.record)
            .filter { $0.recordID.zoneID == file.zoneID && !($0 is CKShare) }[...]
        if mapping.defect == .keepsTokenOnly, rest.count > 2 { return }
        while !rest.isEmpty {
            let records = rest.prefix(Self.transactionLimit).map { RemoteRecord($0, mapping) }
            rest = rest.dropFirst(Self.transactionLimit)
            let result = try await file.apply { database, mapping in
                var applier = try ChangeApplier(database, mapping)
                try applier.apply(records)
                if applier.sawKnownRecord {
                    try database.execute(sql: "UPDATE cloudkit_control SET sweeps = 1")
                }
                return (applier.changes, applier.sawKnownRecord)
            }
            if result.1 { state.withLock { $0.sweeps = true } }
            took(result.0)
        }
        let names = event.deletions.map(\.recordID).filter { $0.zoneID == file.zoneID }
            .map(\.recordName)
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
        } else {
            let missing = try await missing(unseen(limit: 1), database)
            state.withLock { $0.suspect = missing.first }
        }
        try await finishFetch()
    }

    private func finishFetch() async throws {
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
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - zoneIsNew: Whether what is missing went with its zone.
    /// - Throws: A `CKError`, or an error of the file.
    private func sweep(_ database: CKDatabase, zoneIsNew: Bool = false) async throws {
        guard file.mapping.defect != .skipsSweep else { return }
        let unseen = try await unseen()
        for start in stride(from: 0, to: unseen.count, by: configuration.batchLimit) {
            let names = Array(unseen[start..<min(start + configuration.batchLimit, unseen.count)])
            let missing = try await missing(names, database)
            if zoneIsNew, configuration.whenZoneIsDeleted != .deleteSynced {
                try await file.sendAgain(missing)
            } else {
                try await delete(missing)
            }
        }
        try await file.set("sweeps", false)
    }

    /// The records that the fetch under way did not mention, by name.
    private func unseen(limit: Int = .max) async throws -> [String] {
        try await file.writer.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM cloudkit_record WHERE system IS NOT NULL AND session <>
                        (SELECT session FROM cloudkit_control) ORDER BY name LIMIT ?
                    """,
                arguments: [limit]
            )
        }
    }

    /// Looks whether the zone is another one than before, under the same name.
    ///
    /// Somebody deleted it and made it again between two fetches. The second one begins at the
    /// beginning then, finds nothing that was known, and does not say so. A record tells that is
    /// missing although a whole fetch since then has not brought its deletion.
    func confirmZone(_ suspect: String, _ database: CKDatabase) async throws {
        let isKnown = try await file.writer.read { database in
            try KnownRecord.fetch(database, name: suspect)?.system != nil
        }
        guard isKnown, try await !missing([suspect], database).isEmpty else { return }
        try await sweep(database, zoneIsNew: true)
        try await finishFetch()
    }

    /// Those of some records that the server does not have.
    private func missing(_ names: [String], _ database: CKDatabase) async throws -> [String] {
        guard !names.isEmpty else { return [] }
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
