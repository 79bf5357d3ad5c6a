import CloudKit
import GRDB

extension BatchBuilder {
    /// Brings the places of a row that is new or was moved, and of all rows below it, to what the
    /// rows are now.
    ///
    /// - Returns: Whether the row belongs to this zone; if not, it goes with the batch of its own.
    /// - Throws: An error of the database.
    func settle(_ entry: OutboxEntry, _ table: TableSchema, isNew: Bool) throws -> Bool {
        guard hasPlaces, !table.isPublic else { return true }
        if isNew || isMoved(entry, table) {
            try SharedTrees(database, mapping).settle([entry.key], includesBelow: true)
        }
        return try Place.fetch(database, entry.key)?.zone ?? "" == zone
    }

    /// Whether a row is taken out of what another user shares, with all rows below it.
    func leavesTree(_ entry: OutboxEntry) throws -> Bool {
        guard StoreFile.isOthers(zone), let table = catalog[entry.key.table],
            let column = table.parentColumn, isMoved(entry, table), try isThere(entry.key)
        else { return false }
        return try rows.row(entry.key, table)?[column.name]?.isNull == true
    }

    /// Whether a row would come to another user without the row that it is to be below.
    ///
    /// Nobody could put it there.
    func wouldBeLost(_ table: TableSchema, leavingOut open: Set<String>) -> Bool {
        guard !zone.isEmpty, !table.isPublic, let column = table.parentColumn else { return false }
        return open.contains(column.field)
    }

    /// The name of the record that a row's record is to be linked to, so that it is shared with it;
    /// nil when that is not shared, or the server does not have it yet.
    ///
    /// A link to the row above stays where nobody shares the two any more.
    func link(
        _ row: StoredRow,
        _ table: TableSchema,
        _ known: KnownRecord,
        _ entry: OutboxEntry,
        current: String?
    ) throws -> String? {
        let place = hasPlaces ? try Place.fetch(database, entry.key) : nil
        if place?.share != nil { return zone.isEmpty ? nil : current }
        let isMoved = isMoved(entry, table)
        // What is above a row of others may be out of sight.
        guard zone.isEmpty || isMoved || known.system == nil else { return current }
        let trees = SharedTrees(database, mapping)
        let name = try trees.reference(of: row, table, known, isEdited: isMoved)
        guard let name, name != current else { return name }
        guard place != nil, let target = table.parentColumn?.target.flatMap({ catalog[$0] }),
            let key = RowKey(recordName: name, target),
            try trees.place(of: key)?.zone == zone, try isThere(key)
        else { return nil }
        return name
    }

    /// Whether a record is linked to another than it is to be.
    func isUnlinked(
        _ row: StoredRow,
        _ table: TableSchema,
        _ known: KnownRecord,
        _ entry: OutboxEntry,
        _ place: Place?
    ) throws -> Bool {
        if let place {
            return try place.parent != link(row, table, known, entry, current: place.parent)
        }
        // Of a row that nobody shares, a link is looked at when nothing else is to be sent.
        guard entry.changed.isEmpty,
            let parent = known.archived()?.parent?.recordID.recordName
        else { return false }
        return try parent != link(row, table, known, entry, current: parent)
    }

    private func isMoved(_ entry: OutboxEntry, _ table: TableSchema) -> Bool {
        table.parentColumn.map { entry.changed[$0.field] != nil } ?? false
    }
}
