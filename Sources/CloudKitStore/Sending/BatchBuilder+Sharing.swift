import CloudKit
import GRDB

extension BatchBuilder {
    /// Updates the places of a new or moved row, and of all rows below it, to match the rows.
    ///
    /// - Returns: Whether the row belongs to this zone; otherwise it is sent with its own zone's batch.
    /// - Throws: An error of the database.
    func settle(_ entry: OutboxEntry, _ table: TableSchema, isNew: Bool) throws -> Bool {
        guard hasPlaces, !table.isPublic else { return true }
        if table.format != nil {
            if isNew { try objects.place(entry.key, database, mapping) }
            return try Place.fetch(database, entry.key)?.zone ?? .own == zone
        }
        // Only these change places; an edit of other fields leaves the trees as they are.
        if isNew || isMoved(entry, table) {
            try SharedTrees(database, mapping).settle([entry.key], includesBelow: true)
        }
        return try Place.fetch(database, entry.key)?.zone ?? .own == zone
    }

    /// Refuses references to rows of other zones, in which the client that determines the format does not look.
    func checkZones(
        of changes: [String: StoreValue],
        _ row: StoredRow,
        _ table: TableSchema
    ) throws {
        for (field, key) in try mapping.targets(of: row, table) where changes[field] != nil {
            let other = try Place.fetch(database, key)?.zone ?? .own
            guard other != zone, let target = catalog[key.table], try rows.row(key, target) != nil
            else { continue }
            throw RecordFormat.UnwritableRow(
                description:
                    "the column '\(table.byField[field]?.name ?? field)' refers to the row "
                    + "'\(key.text)' of the table '\(key.table)', which is in another zone: one of the two is "
                    + "shared; share both in the app, or refer to another row"
            )
        }
    }

    /// Returns whether a row leaves another user's shared tree, with all rows below it.
    func leavesTree(_ entry: OutboxEntry) throws -> Bool {
        guard zone.isShared, let table = catalog[entry.key.table],
            // A row that the server never had leaves nothing.
            let column = table.parentColumn, isMoved(entry, table), try isThere(entry.key)
        else { return false }
        return try rows.row(entry.key, table)?[column.name]?.isNull == true
    }

    /// Returns the names of the records above rows that leave a shared tree.
    ///
    /// The server deletes none of them before the rows have left.
    func recordsAbove(_ entries: [OutboxEntry]) throws -> Set<String> {
        var names: Set<String> = []
        for entry in entries {
            var place = try Place.fetch(database, entry.key)
            while let name = place?.parent, names.insert(name).inserted {
                let key = try KnownRecord.fetch(database, name: name)?.key
                place = try key.flatMap { try Place.fetch(database, $0) }
            }
        }
        return names
    }

    /// Returns the names of the records above some of another user's that are to be deleted too.
    func deletedAbove(_ entries: [OutboxEntry]) throws -> [String] {
        // Only another user's record may turn out to be a top that this user cannot delete.
        guard zone.isShared else { return [] }
        return try recordsAbove(entries).sorted().filter { name in
            let key = try KnownRecord.fetch(database, name: name)?.key
            return try key.flatMap { try OutboxEntry.fetch(database, $0) }?.isDeleted == true
        }
    }

    /// Returns whether a row would reach another user without its parent row.
    ///
    /// Nobody could put it there later.
    func wouldBeLost(_ table: TableSchema, leavingOut open: Set<String>) -> Bool {
        guard zone != .own, !table.isPublic, let column = table.parentColumn else { return false }
        return open.contains(column.field)
    }

    /// Returns the name of the record that a row's record should link to, so that both are shared;
    /// nil when the parent is not shared, or not on the server yet.
    ///
    /// The link to the row above stays even if the two are no longer shared.
    func link(
        _ row: StoredRow,
        _ table: TableSchema,
        _ known: KnownRecord,
        _ entry: OutboxEntry,
        current: String?
    ) throws -> String? {
        let place = hasPlaces ? try Place.fetch(database, entry.key) : nil
        // The root of the user's own share has no record above it; what is above another user's is
        // the owner's matter.
        if place?.share != nil { return zone == .own ? nil : current }
        let isMoved = isMoved(entry, table)
        // The row above another user's row may be out of sight.
        guard zone == .own || isMoved || known.system == nil else { return current }
        let trees = SharedTrees(database, mapping)
        let name = try trees.reference(of: row, table, known, isEdited: isMoved)
        guard let name else { return nil }
        let key = table.parentColumn?.target.flatMap { catalog[$0] }
            .flatMap { RowKey(recordName: name, $0) }
        // The server deletes no record that others are linked to. Only a row that waits can be below one that
        // is deleted here.
        if zone == .own, known.waiting != nil, let key,
            try OutboxEntry.fetch(database, key)?.isDeleted == true
        {
            return nil
        }
        if name == current { return name }
        // A save with a link to a record that is missing, or in another zone, would be refused.
        guard place != nil, let key, try trees.place(of: key)?.zone == zone, try isThere(key) else {
            return nil
        }
        return name
    }

    /// Returns whether a record is linked to another record than it should be.
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
        // An unshared row's link is only checked when nothing else is to be sent.
        guard entry.changed.isEmpty,
            let parent = known.archived()?.parent?.recordID.recordName
        else { return false }
        return try parent != link(row, table, known, entry, current: parent)
    }

    private func isMoved(_ entry: OutboxEntry, _ table: TableSchema) -> Bool {
        table.parentColumn.map { entry.changed[$0.field] != nil } ?? false
    }
}
