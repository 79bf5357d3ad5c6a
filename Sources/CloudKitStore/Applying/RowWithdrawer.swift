import GRDB

/// Rows of other users that leave this user's sight.
///
/// Their deletion looks the same. Only the owner, whose devices have all rows, can apply the
/// schema's actions to referring rows: here these show without the reference until the row returns,
/// and none of that is an edit.
struct RowWithdrawer: ApplyPhase {
    let context: ApplyContext
    /// The rule of the journal's entries for the unsent edits of these rows.
    var rule = JournalEntry.access

    /// Removes a row from the file, untracked, after clearing references to it.
    func withdraw(_ key: RowKey, _ table: TableSchema, _ row: StoredRow) throws {
        try letGoBelow(row, table)
        // Before the row is deleted, or SQLite would run the schema's actions on the referring
        // rows.
        try clearReferences(to: key, table, row)
        try rows.delete(key, table)
        context.note(.deleted, key)
    }

    /// Clears references to a row that leaves, and has the referring rows wait for it.
    func clearReferences(to key: RowKey, _ table: TableSchema, _ row: StoredRow) throws {
        // A cycle of references ends where rows repeat.
        guard context.leaving.insert(key).inserted else { return }
        defer { context.leaving.remove(key) }
        let name = try key.recordName(table)
        for (childName, foreignKey) in catalog.foreignKeys(to: table.name) {
            guard let child = catalog[childName] else { continue }
            for childRow in try rows.rows(referring: foreignKey, child, row) {
                guard let childKey = RowStore.key(childRow, child), childKey != key else {
                    continue
                }
                try clear(foreignKey, of: childKey, child, childRow, waitingFor: name)
            }
        }
    }

    func clear(
        _ foreignKey: ForeignKey,
        of key: RowKey,
        _ table: TableSchema,
        _ row: StoredRow,
        waitingFor name: String
    ) throws {
        let columns = foreignKey.columns.compactMap(table.column)
            .filter { !$0.isNotNull && !$0.isKey }
        var known = try KnownRecord.fetch(database, name: key.recordName(table))
        // A record that the server does not have in this zone cannot return with the row.
        if known?.system == nil || known?.zone != zone { known = nil }
        // A row that was never sent has no place without its parent.
        if known == nil, columns.isEmpty || foreignKey.columns == [table.parentColumn?.name] {
            return try letGoWithAllBelow(key)
        }
        known?.waiting = name
        try known?.save(database)
        guard !columns.isEmpty else { return try hide(key, table, row) }
        if known != nil { try forgetEdits(of: columns.map(\.field), key, table, row) }
        let cleared = columns.map { ($0.field, StoreValue.null) }
        let kind = try rows.write(
            Dictionary(uniqueKeysWithValues: cleared),
            key,
            table,
            over: row,
            files: [:]
        )
        if let kind { context.note(kind, key) }
    }

    /// Removes a row whose key or UNIQUE values belong to a row of another zone, and all rows below it,
    /// which wait.
    ///
    /// Their unsent edits are in the journal, and rows that were never sent with them.
    func hideWithAllBelow(_ key: RowKey, named name: String) throws {
        guard let table = catalog[key.table], let row = try rows.row(key, table) else { return }
        try context.deferForeignKeys()
        // A cycle of rows below each other ends where they repeat.
        guard context.leaving.insert(key).inserted else { return }
        // Rows follow only the row above them; other references to it are cleared.
        for (childName, foreignKey) in catalog.foreignKeys(to: table.name) {
            guard let child = catalog[childName], foreignKey.columns == [child.parentColumn?.name]
            else { continue }
            for childRow in try rows.rows(referring: foreignKey, child, row) {
                guard let childKey = RowStore.key(childRow, child), childKey != key else {
                    continue
                }
                // The top of a share is in no other tree, and shows without the reference.
                if try Place.fetch(database, childKey)?.share != nil { continue }
                let below = try childKey.recordName(child)
                guard var known = try KnownRecord.fetch(database, name: below),
                    known.zone == zone, known.system != nil
                else {
                    try letGoWithAllBelow(childKey)
                    continue
                }
                // From the bottom up, so that no row is removed before those that need it.
                try hideWithAllBelow(childKey, named: below)
                known.waiting = name
                try known.save(database)
            }
        }
        context.leaving.remove(key)
        try hide(key, table, row)
    }

    /// Removes another user's row that showed its previous values and now requires a row that is
    /// out of sight.
    func hide(_ candidate: Candidate, waitingFor name: String) throws {
        guard isOthers, candidate.known.zone == zone, let row = candidate.existing else { return }
        candidate.known.waiting = name
        try candidate.known.save(database)
        try hide(candidate.key, candidate.table, row)
    }

    /// Removes a row that returns together with another row that it requires.
    private func hide(_ key: RowKey, _ table: TableSchema, _ row: StoredRow) throws {
        try keepEdits(of: key)
        try clearReferences(to: key, table, row)
        try rows.delete(key, table)
        context.note(.deleted, key)
    }

    /// Moves unsent references to an inaccessible row into the journal.
    func forgetEdits(
        of fields: [String],
        _ key: RowKey,
        _ table: TableSchema,
        _ row: StoredRow
    ) throws {
        guard var entry = try OutboxEntry.fetch(database, key) else { return }
        let edited = fields.filter { entry.changed[$0] != nil }
        guard !edited.isEmpty else { return }
        let lost = try mapping.fields(row, table).filter { edited.contains($0.key) }
        let overruled = MergePlan.Overruled(fields: lost, side: .local, rule: rule)
        try journal.add([overruled], key, kept: nil, at: clock.edit(entry.version))
        context.refuseEdits(of: key)
        for field in edited { entry.changed[field] = nil }
        if entry.changed.isEmpty {
            try entry.clear(database)
        } else {
            try entry.save(database)
        }
    }

    // MARK: The end of a share

    /// Removes all rows of the zone from the file: this user no longer has access to them.
    ///
    /// Unsent edits are in the journal.
    func leaveZone() throws {
        let moved = MovedObjects(context: context)
        try moved.giveAwayAll()
        let keys = try Row.fetchAll(
            database,
            sql: "SELECT tbl, key FROM grdb_cloudkit_place WHERE zone = ?",
            arguments: [zone]
        ).map { RowKey(table: $0["tbl"], text: $0["key"]) }.sorted {
            (catalog.rank($1.table), $1.text) < (catalog.rank($0.table), $0.text)
        }
        // Rows may cascade to others of their own table.
        for key in keys { try keepEdits(of: key) }
        try moved.release(keys)
        // They leave together, so that no reference among them is cleared first.
        context.leaving = Set(keys)
        for key in keys { try letGo(key) }
        context.leaving = []
        // Before the records, which know the zone.
        try database.execute(
            sql: """
                DELETE FROM grdb_cloudkit_sent
                WHERE name IN (SELECT name FROM grdb_cloudkit_record WHERE zone = ?)
                """,
            arguments: [zone]
        )
        for table in ["record", "share", "zone", "deleted"] {
            let table = ControlTables.prefix + table
            try database.execute(sql: "DELETE FROM \(table) WHERE zone = ?", arguments: [zone])
        }
    }

    /// Removes the rows from the file that the deletion of the row above them takes out of a shared
    /// tree: they stay with their owner.
    ///
    /// A row that was only moved here, unknown to the server, returns to its previous place.
    func letGoBelow(
        _ row: StoredRow,
        _ table: TableSchema,
        includesAll: Bool = false
    ) throws {
        for (name, foreignKey) in catalog.foreignKeys(to: table.name) {
            guard let child = catalog[name], foreignKey.columns == [child.parentColumn?.name],
                // The schema deletes the cascading rows with it.
                includesAll || foreignKey.deletion != .cascade
            else { continue }
            for childRow in try rows.rows(referring: foreignKey, child, row) {
                guard let key = RowStore.key(childRow, child),
                    let place = try Place.fetch(database, key), place.zone == zone
                else { continue }
                let above = try RowStore.key(row, table)?.recordName(table) ?? ""
                guard place.name == nil || place.parent == above else {
                    try clear(foreignKey, of: key, child, childRow, waitingFor: above)
                    continue
                }
                try letGoBelow(childRow, child, includesAll: true)
                try letGo(key)
            }
        }
    }

    /// Removes a row that its owner took out of a shared tree, with all rows below it.
    func letGoWithAllBelow(_ key: RowKey) throws {
        if let table = catalog[key.table], let row = try rows.row(key, table) {
            try letGoBelow(row, table, includesAll: true)
        }
        try letGo(key)
    }

    /// Removes one row that is no longer accessible.
    func letGo(_ key: RowKey) throws {
        guard let table = catalog[key.table] else { return }
        try keepEdits(of: key)
        if let row = try rows.row(key, table) {
            try context.deferForeignKeys()
            if isOthers { try clearReferences(to: key, table, row) }
            try rows.delete(key, table)
            context.note(.deleted, key)
        }
        // A key that is too long for a record name has no record.
        if let name = try? key.recordName(table),
            let known = try KnownRecord.fetch(database, name: name), known.zone == zone
        {
            try known.delete(database)
        }
        try Place.remove(database, key)
    }

    /// Moves the unsent changes of an inaccessible row into the journal, or its unsent deletion.
    func keepEdits(of key: RowKey) throws {
        guard let table = catalog[key.table], let entry = try OutboxEntry.fetch(database, key)
        else {
            return
        }
        if entry.isDeleted {
            try keepDeletion(entry, table)
        } else if let row = try rows.row(key, table) {
            let fields = try mapping.fields(row, table).filter { entry.changed[$0.key] != nil }
            if !fields.isEmpty {
                let lost = MergePlan.Overruled(fields: fields, side: .local, rule: rule)
                try journal.add([lost], key, kept: nil, at: clock.edit(entry.version))
                context.refuseEdits(of: key)
            }
        }
        try entry.clear(database)
    }

    /// Notes in the journal that a row stays with its owner, unless it was never sent there.
    func keepDeletion(_ entry: OutboxEntry, _ table: TableSchema) throws {
        // A key that is too long for a record name has no record.
        guard let name = try? entry.key.recordName(table),
            let known = try KnownRecord.fetch(database, name: name), known.wasSent
        else { return }
        let kept = try known.baseFields().known.filter { table.byField[$0.key] != nil }
        let lost = MergePlan.Overruled(fields: [:], side: .local, rule: rule)
        try journal.add([lost], entry.key, kept: kept, at: clock.edit(entry.version))
        context.refuseEdits(of: entry.key)
    }
}
