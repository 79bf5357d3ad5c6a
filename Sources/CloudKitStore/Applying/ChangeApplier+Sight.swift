import GRDB

/// Rows of other users that leave this user's sight.
///
/// Their deletion looks the same. Only the owner, whose devices have all rows, can apply the
/// schema's actions to referring rows: here these show without the reference until the row returns,
/// and none of that is an edit.
extension ChangeApplier {
    /// `true` when the records are another user's.
    var isOthers: Bool { zone.isShared }

    /// Removes a row from the file, untracked, after clearing references to it.
    mutating func withdraw(_ key: RowKey, _ table: TableSchema, _ row: StoredRow) throws {
        try letGoBelow(row, table)
        try clearReferences(to: key, table, row)
        try rows.delete(key, table)
        note(.deleted, key)
    }

    /// Clears references to a row that leaves, and has the referring rows wait for it.
    mutating func clearReferences(to key: RowKey, _ table: TableSchema, _ row: StoredRow) throws {
        // A cycle of references ends where rows repeat.
        guard leaving.insert(key).inserted else { return }
        defer { leaving.remove(key) }
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

    mutating func clear(
        _ foreignKey: ForeignKey,
        of key: RowKey,
        _ table: TableSchema,
        _ row: StoredRow,
        waitingFor name: String
    ) throws {
        let columns = foreignKey.columns.compactMap(table.column)
            .filter { !$0.isNotNull && !$0.isKey }
        var known = try KnownRecord.fetch(database, name: key.recordName(table))
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
        if let kind { note(kind, key) }
    }

    /// Removes another user's row that showed its previous values and now requires a row that is
    /// out of sight.
    mutating func hide(_ candidate: Candidate, waitingFor name: String) throws {
        guard isOthers, candidate.known.zone == zone, let row = candidate.existing else { return }
        candidate.known.waiting = name
        try candidate.known.save(database)
        try hide(candidate.key, candidate.table, row)
    }

    /// Removes a row that returns together with another row that it requires.
    private mutating func hide(_ key: RowKey, _ table: TableSchema, _ row: StoredRow) throws {
        try keepEdits(of: key)
        try clearReferences(to: key, table, row)
        try rows.delete(key, table)
        note(.deleted, key)
    }

    /// Moves unsent references to an inaccessible row into the journal.
    private func forgetEdits(
        of fields: [String],
        _ key: RowKey,
        _ table: TableSchema,
        _ row: StoredRow
    ) throws {
        guard var entry = try OutboxEntry.fetch(database, key) else { return }
        let edited = fields.filter { entry.changed[$0] != nil }
        guard !edited.isEmpty else { return }
        let lost = try mapping.fields(row, table).filter { edited.contains($0.key) }
        let overruled = MergePlan.Overruled(fields: lost, side: .local, rule: "access")
        try journal.add([overruled], key, kept: nil, at: clock.edit(entry.version))
        for field in edited { entry.changed[field] = nil }
        if entry.changed.isEmpty {
            try entry.clear(database)
        } else {
            try entry.save(database)
        }
    }
}
