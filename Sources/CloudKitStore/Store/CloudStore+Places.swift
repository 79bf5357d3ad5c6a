package import CloudKit
import GRDB

extension CloudStore {
    /// Assigns rows that were never synced here to the zone of their records, which another client created.
    ///
    /// Without it they would be sent into the user's own zone before the records arrive.
    ///
    /// - Parameters:
    ///   - keys: The keys of the rows, as text, by table.
    ///   - zoneID: The zone, in which that client shares.
    /// - Throws: A ``CloudStoreError`` for another user's zone if the configuration excludes shared rows, or an error of
    ///   the database.
    package func place(_ keys: [String: [String]], in zoneID: CKRecordZone.ID) throws {
        guard let zone = file.zone(zoneID), zone.isOwned || zone.isShared else { return }
        let file = file
        try file.writer.write { database in
            let store = RowStore(database: database, mapping: file.mapping)
            var isFirst = true
            let rows = keys.flatMap { table, keys in keys.map { RowKey(table: table, text: $0) } }
            for key in rows {
                guard let table = file.catalog[key.table],
                    try KnownRecord.fetch(database, name: key.recordName(table)) == nil,
                    try Place.fetch(database, key) == nil, try store.row(key, table) != nil
                else { continue }
                if let owner = zone.owner, !configuration.includesSharedRows {
                    throw CloudStoreError(
                        .notShared,
                        "The row '\(key.text)' of the table '\(key.table)' is of a zone that the user '\(owner)' "
                            + "shares, and would become this user's own; set includesSharedRows of the "
                            + "configuration, or delete the rows of that zone"
                    )
                }
                if isFirst { try SharingTriggers.install(file.catalog, in: database) }
                isFirst = false
                try Place(zone: zone, writes: true).save(database, key)
            }
        }
    }
}
