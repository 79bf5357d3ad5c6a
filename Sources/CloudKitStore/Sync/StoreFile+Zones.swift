import CloudKit
import Foundation
import GRDB

extension StoreFile {
    /// Does what is to be done about a zone that the server has no more; rows with edits stay in
    /// every case.
    func loseZone(_ loss: CloudStore.ZoneLoss) async throws -> [RowChange] {
        try await writer.write { database in
            try database.execute(sql: "UPDATE cloudkit_control SET zoneIsSaved = 0")
            switch loss {
            case .deleteSynced:
                let changes = try ControlTables.applying(database) {
                    var applier = try ChangeApplier(database, mapping)
                    let known = try KnownRecord.fetchAll(
                        database,
                        where: "system IS NOT NULL AND zone = ''"
                    )
                    try applier.delete(known.map(\.name))
                    try applier.finishDeletions()
                    return applier.changes
                }
                try forgetServer(database)
                return changes
            case .upload:
                try forgetServer(database)
                try addEverything(database)
                return []
            case .wait:
                try database.execute(
                    sql: "UPDATE cloudkit_control SET blocked = ?",
                    arguments: [Block.purged.rawValue]
                )
                return []
            }
        }
    }

    /// Puts the rows of records into the outbox that went with their zone.
    func sendAgain(_ names: [String]) async throws {
        try await writer.write { database in
            try forgetServer(database, only: Set(names))
            try addEverything(database)
        }
    }

    /// Forgets all that the server said of records of the user's own zone, or of some, but for fields
    /// and types that this version does not know.
    func forgetServer(_ database: Database, only names: Set<String>? = nil) throws {
        for record in try KnownRecord.fetchAll(database, where: "tbl IS NOT NULL AND zone = ''")
        where names?.contains(record.name) ?? true {
            guard let table = catalog[record.key?.table ?? ""] else { continue }
            var known = record
            let base = try known.baseFields()
            known.forgetServer(keeping: base.filter { table.byField[$0.key] == nil })
            try known.save(database)
        }
    }

    /// Puts all rows into the outbox.
    func addEverything(_ database: Database) throws {
        let now = try StoreClock.tick(database)
        for table in catalog.tables { try Reconciliation(database, mapping).add(table, at: now) }
    }
}
