package import CloudKit
package import GRDB

/// The changes that another client had not sent when its file became a store's.
package struct AdoptedChanges: Sendable {
    /// A record of a row.
    package struct Record: Sendable {
        /// The row's table.
        package var table: String
        /// The row's key, as text.
        package var key: String
        /// The record's zone; nil for the store's own.
        package var zoneID: CKRecordZone.ID?

        package init(table: String, key: String, zoneID: CKRecordZone.ID?) {
            self.table = table
            self.key = key
            self.zoneID = zoneID
        }
    }

    /// The rows that are newer than their records.
    package var edited: [Record] = []
    /// The records whose rows were deleted.
    package var deleted: [Record] = []
    /// The rows whose records were deleted.
    package var gone: [Record] = []

    package init() {}
}

extension CloudStore {
    /// Adopts the changes that another client had not sent.
    ///
    /// An edited row has all its values from now on, because nobody knows which of them are edits; a value that it
    /// lacks may only not have arrived, and is none. What the record has instead comes into the journal. A deletion is
    /// of the version that the server has. A row whose record was deleted goes when a fetch does not bring the record.
    ///
    /// - Parameter changes: A closure that returns the changes, and notes in the same transaction that they are adopted.
    /// - Throws: The closure's error, or an error of the database.
    package func adopt(_ changes: (Database) throws -> AdoptedChanges) throws {
        try file.writer.write { [file] database in
            let found = try changes(database)
            let adoption = Adoption(database: database, file: file)
            for record in found.edited { try adoption.edit(record) }
            for record in found.deleted { try adoption.delete(record) }
            for record in found.gone { try adoption.lose(record) }
        }
    }
}

/// The adoption of another client's changes, within a transaction.
private struct Adoption {
    let database: Database
    let file: StoreFile

    /// Has all values of a row sent.
    func edit(_ record: AdoptedChanges.Record) throws {
        let key = RowKey(table: record.table, text: record.key)
        guard let table = file.catalog[record.table],
            var entry = try OutboxEntry.fetch(database, key), !entry.isDeleted,
            let row = try RowStore(database: database, mapping: file.mapping).row(key, table)
        else { return }
        let now = try StoreClock.tick(database)
        for column in table.fieldColumns
        where entry.changed[column.field] == StoreClock.start
            && row[column.name]?.isNull == false
        {
            entry.changed[column.field] = now
        }
        entry.version = now
        entry.since = now
        try entry.save(database)
    }

    /// Has the deletion of a row's record sent.
    func delete(_ record: AdoptedChanges.Record) throws {
        guard let (known, key, table) = try assumed(record),
            try RowStore(database: database, mapping: file.mapping).row(key, table) == nil
        else { return }
        try known.save(database)
        try OutboxEntry.noteDeletion(of: key, database)
        guard known.zone != .own else { return }
        if try !Place.exist(database) { try SharingTriggers.install(file.catalog, in: database) }
        try Place(zone: known.zone, writes: true).save(database, key)
    }

    /// Has a row go unless its record arrives.
    func lose(_ record: AdoptedChanges.Record) throws {
        guard let (found, key, _) = try assumed(record),
            let entry = try OutboxEntry.fetch(database, key), !entry.isDeleted,
            entry.changed.values.allSatisfy({ $0 == StoreClock.start })
        else { return }
        var known = found
        known.goes = true
        try known.save(database)
        try entry.clear(database)
    }

    /// Returns a record as one that the server has; nil if the file knows it.
    private func assumed(
        _ record: AdoptedChanges.Record
    ) throws -> (KnownRecord, RowKey, TableSchema)? {
        let zoneID = record.zoneID ?? file.zoneID
        let key = RowKey(table: record.table, text: record.key)
        guard let table = file.catalog[record.table], let zone = file.zone(zoneID), zone != .public
        else { return nil }
        let name = try key.recordName(table)
        guard try KnownRecord.fetch(database, name: name) == nil else { return nil }
        return (.assumed(name, key, table, in: zone, zoneID), key, table)
    }
}
