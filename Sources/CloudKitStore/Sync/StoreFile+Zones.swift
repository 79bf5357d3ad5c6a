import CloudKit
import Foundation
import GRDB

extension StoreFile {
    /// Handles a zone that the server no longer has; rows with edits stay in every case.
    func loseZone(_ loss: StoreConfiguration.ZoneDeletionPolicy) async throws -> [RowChange] {
        try await writer.write { database in
            try database.execute(sql: "UPDATE grdb_cloudkit_control SET zoneIsSaved = 0")
            switch loss {
            case .deleteSynced:
                let changes = try ControlTables.applying(database, catalog) {
                    let applier = try ChangeApplier(database, mapping)
                    let known = try KnownRecord.fetchAll(
                        database,
                        where: "system IS NOT NULL AND zone = ''"
                    )
                    // By the rules for fetched deletions, so that edits survive and lost ones are
                    // in the journal.
                    try applier.delete(known.map(\.name))
                    try applier.finishDeletions()
                    // They may have had keys and UNIQUE values for which other users' records wait.
                    try applier.retryHidden()
                    return applier.changes
                }
                // The remaining rows are new to the next zone.
                try forgetServer(database)
                return changes
            case .upload:
                try forgetServer(database)
                try addEverything(database)
                return []
            case .wait:
                try database.execute(
                    sql: "UPDATE grdb_cloudkit_control SET blocked = ?",
                    arguments: [Block.purged.rawValue]
                )
                return []
            }
        }
    }

    /// Adds the rows of records to the outbox that were deleted with their zone.
    func sendAgain(_ names: [String]) async throws {
        try await writer.write { database in
            try forgetServer(database, only: Set(names))
            try addEverything(database)
        }
    }

    /// Forgets that the server has records of the user's own zone, or some of them.
    ///
    /// Their fields stay: if another device sends its version of the same row first, they are the
    /// merge base.
    func forgetServer(_ database: Database, only names: Set<String>? = nil) throws {
        for record in try KnownRecord.fetchAll(database, where: "tbl IS NOT NULL AND zone = ''")
        where names?.contains(record.name) ?? true && catalog[record.key?.table ?? ""] != nil {
            var known = record
            known.forgetServer()
            try known.save(database)
            if let key = known.key { try Place.drop(database, key) }
        }
        // The shares were deleted with their roots.
        let keys = try Row.fetchAll(
            database,
            sql: "SELECT tbl, key FROM grdb_cloudkit_place WHERE zone = '' ORDER BY tbl, key"
        ).map { RowKey(table: $0["tbl"], text: $0["key"]) }
        try SharedTrees(database, mapping).settle(keys)
    }

    /// Moves the rows of the zones in which the user shares into the user's own zone, of whose records the server has
    /// none.
    func takeHome(_ database: Database) throws {
        for zone in try StoreFile.ownedZones(database) {
            let records = try KnownRecord.fetchAll(
                database,
                where: "zone = ?",
                arguments: [zone]
            )
            for var known in records {
                guard let key = known.key else {
                    try known.delete(database)
                    continue
                }
                known.forgetServer()
                known.zone = .own
                try known.save(database)
                try Place.drop(database, key)
            }
            try database.run("DELETE FROM grdb_cloudkit_place WHERE zone = ?", [zone])
        }
    }

    /// Adds all rows to the outbox.
    ///
    /// A reference that a row shows without, because its target has not arrived, is not a cleared
    /// reference.
    func addEverything(_ database: Database) throws {
        let waiting = try KnownRecord.fetchAll(database, where: "waiting IS NOT NULL")
            .filter { known in
                try known.key.map { try OutboxEntry.fetch(database, $0) == nil } ?? false
            }
        for table in catalog.tables { try Reconciliation(database, mapping).add(table) }
        let rows = RowStore(database: database, mapping: mapping)
        for known in waiting {
            guard let key = known.key, let table = catalog[key.table],
                let row = try rows.row(key, table),
                var entry = try OutboxEntry.fetch(database, key)
            else { continue }
            let hidden = try known.hiddenReferences(in: mapping.fields(row, table), table)
            for field in hidden.keys { entry.changed[field] = nil }
            try entry.save(database)
        }
    }

    /// Removes a zone that is no longer shared.
    ///
    /// - Parameter zone: The zone.
    /// - Returns: The changes, and the rows that lost to others which could show then.
    /// - Throws: An error of the database.
    func leave(_ zone: StoreZone) async throws -> (changes: [RowChange], replaced: [RowKey]) {
        try await apply { database, mapping in
            let applier = try ChangeApplier(database, mapping, zone: zone)
            try applier.leaveZone()
            return (applier.changes, applier.replacedByDuplicate)
        }
    }
}
