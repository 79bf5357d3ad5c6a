import GRDB

/// The reversal of edits that the user may not make.
struct EditReverter: ApplyPhase {
    let context: ApplyContext

    private var withdrawer: RowWithdrawer { RowWithdrawer(context: context) }
    private var goneReferences: GoneReferences { GoneReferences(context: context) }

    /// Reverts an edit that the user may not make: it is kept in the journal, and the row gets the
    /// server's values.
    ///
    /// The next fetch shows whether the row may be written. The refusal may concern its new place,
    /// or a referenced row.
    func takeBack(
        _ known: KnownRecord,
        _ entry: OutboxEntry,
        depth: Int = 0
    ) throws {
        let key = entry.key
        guard let table = catalog[key.table] else { return }
        // Without a version of the server there are no values to return to: the row is removed, and
        // before it the rows below, which still find it.
        guard known.system != nil else {
            try takeBackBelow(key, table, isNew: !known.wasSent, depth: depth)
            return try withdrawer.letGo(key)
        }
        let existing = try rows.row(key, table)
        let shown = try existing.map { try mapping.fields($0, table) } ?? [:]
        let base = try known.baseFields(like: shown).known
        var lost: [String: StoreValue] = [:]
        if existing != nil, !entry.isDeleted {
            lost = shown.filter { entry.changed[$0.key] != nil }
        }
        let kept = base.filter { table.byField[$0.key] != nil }
        let overruled = MergePlan.Overruled(fields: lost, side: .local, rule: JournalEntry.access)
        // A deletion is noted although no value is lost: the app sees why the row returns.
        if entry.isDeleted || !lost.isEmpty {
            try journal.add([overruled], key, kept: kept, at: clock.edit(entry.version))
        }
        // Cleared first, because a candidate leaves out the fields with unsent edits.
        try entry.clear(database)
        guard let candidate = try candidate(known.name) else { return }
        // A field for which the server has no value is not in the candidate, and would keep the
        // refused one.
        for field in lost.keys where candidate.fields[field] == nil {
            candidate.fields[field] = .null
        }
        try RowPlacer(context: context).place([candidate])
    }

    /// Reverts the deletions of rows that turned out to be the tops of another user's shares: those
    /// of all rows below them, too, and what the schema did to rows that stayed.
    func bringBackTops() throws {
        var next: [(name: String, key: RowKey)] = []
        for key in exchange(&context.deletedTops, with: []) {
            guard let table = catalog[key.table] else { continue }
            next.append((try key.recordName(table), key))
        }
        var seen: Set<RowKey> = []
        while let (name, key) = next.popLast() {
            guard seen.insert(key).inserted else { continue }
            if let known = try KnownRecord.fetch(database, name: name), known.zone == zone,
                let entry = try OutboxEntry.fetch(database, key)
            {
                try bringBack(known, entry)
            }
            for child in try Place.names(below: name, in: zone, database) {
                guard let key = try KnownRecord.fetch(database, name: child)?.key else { continue }
                next.append((child, key))
            }
        }
    }

    /// Reverts the deletion of a row below which a row stays that does not show here, and the deletions
    /// of the rows above it.
    func bringBack(_ name: String) throws {
        var deleted: [(known: KnownRecord, entry: OutboxEntry)] = []
        var current: String? = name
        // A cycle ends where a record repeats.
        while let name = current, !deleted.contains(where: { $0.known.name == name }),
            let known = try KnownRecord.fetch(database, name: name), known.zone == zone,
            let key = known.key, let entry = try OutboxEntry.fetch(database, key), entry.isDeleted
        {
            deleted.append((known, entry))
            current = try Place.fetch(database, key)?.parent
        }
        // From the top, because each shows below the one before it.
        for (known, entry) in deleted.reversed() {
            try takeBack(known, entry)
            context.refuseEdits(of: entry.key)
        }
    }

    /// Reverts the deletion of a row, or of the reference to a deleted row above it.
    private func bringBack(_ known: KnownRecord, _ entry: OutboxEntry) throws {
        guard let table = catalog[entry.key.table] else { return }
        if entry.isDeleted {
            try takeBack(known, entry)
        } else {
            // The schema cleared the reference when the row above was deleted; another reference
            // that the user set remains an edit.
            guard let column = table.parentColumn, entry.changed[column.field] != nil,
                let row = try rows.row(entry.key, table), row[column.name]?.isNull == true
            else { return }
            try withdrawer.forgetEdits(of: [column.field], entry.key, table, row)
            guard let candidate = try candidate(known.name) else { return }
            try RowPlacer(context: context).place([candidate])
        }
        context.refuseEdits(of: entry.key)
    }

    /// Reverts edits of rows that refer to a row which the server does not have, before it is removed.
    ///
    /// - Parameters:
    ///   - key: The row's key.
    ///   - table: The row's table.
    ///   - isNew: `true` when the server never had it. A row that left sight and was edited here may still
    ///     be with its owner, and then the owner's references to it are valid.
    ///   - depth: The number of rows above it that are reverted.
    /// - Throws: An error of the database.
    private func takeBackBelow(
        _ key: RowKey,
        _ table: TableSchema,
        isNew: Bool,
        depth: Int
    ) throws {
        // A cycle of rows above each other ends where they repeat.
        guard depth < 100, let row = try rows.row(key, table) else { return }
        for (name, foreignKey) in catalog.foreignKeys(to: table.name) {
            guard let child = catalog[name] else { continue }
            for childRow in try rows.rows(referring: foreignKey, child, row) {
                guard let key = RowStore.key(childRow, child) else { continue }
                let name = try key.recordName(child)
                let known = try KnownRecord.fetch(database, name: name)
                guard let entry = try OutboxEntry.fetch(database, key) else {
                    if isNew, let known { try goneReferences.release(foreignKey, of: known) }
                    continue
                }
                try takeBack(
                    known
                        ?? KnownRecord(name: name, key: key, type: child.recordType, zone: zone),
                    entry,
                    depth: depth + 1
                )
            }
        }
    }
}
