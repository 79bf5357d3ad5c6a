import GRDB

extension ChangeApplier {
    /// Stores the place of a shared record, as the server reports it.
    mutating func locate(_ remote: RemoteRecord, _ key: RowKey) throws {
        guard zone != .public else { return }
        let isShared = remote.share != nil || zone != .own
        guard isShared || hasPlaces else { return }
        let before = try Place.fetch(database, key)
        guard isShared || before != nil else { return }
        if !hasPlaces { try SharingTriggers.install(catalog, in: database) }
        if zone == .own, before?.share != remote.share { reshared.append(key) }
        hasPlaces = true
        try Place(
            zone: zone,
            name: remote.name,
            parent: remote.parent,
            share: remote.share,
            writes: before?.writes ?? (zone == .own)
        ).save(database, key)
    }

    /// Updates the places of the written rows to match the rows.
    mutating func settleTrees() throws {
        let (tops, rows) = (reshared, written)
        reshared = []
        written = []
        guard hasPlaces else { return }
        let trees = SharedTrees(database, mapping)
        try trees.settle(tops, includesBelow: true)
        try trees.settle(rows)
    }

    /// Forgets the shares among some deleted records.
    mutating func forgetShares(_ names: [String]) throws {
        guard hasPlaces, zone != .public else { return }
        for name in names where try KnownRecord.fetch(database, name: name) == nil {
            guard let top = try Place.forgetShare(database, name, zone), zone == .own else {
                continue
            }
            reshared.append(top)
        }
    }

    /// Returns whether a record's row already belongs to another record: two users gave the same
    /// key to different rows.
    func collides(_ known: KnownRecord?, _ key: RowKey, _ table: TableSchema) throws -> Bool {
        guard hasPlaces || zone != .own, !table.isPublic else { return false }
        if let known, known.system != nil { return known.zone != zone }
        let place = try Place.fetch(database, key)
        guard place?.zone ?? .own != zone else { return false }
        return try rows.row(key, table) != nil || OutboxEntry.fetch(database, key) != nil
    }

    /// Quarantines a record under a separate name, until the row that has its key is deleted.
    func quarantine(_ remote: RemoteRecord, _ table: TableSchema) throws {
        var known = KnownRecord(
            name: KnownRecord.name(remote.name, asideIn: zone),
            key: nil,
            type: remote.type,
            zone: zone
        )
        known.tag = remote.tag
        known.system = remote.system
        known.session = session
        known.problem =
            "The record '\(remote.name)' of another user has the key of another row of the table '"
            + "\(table.name)'; delete that row, or give it another key"
        if let fields = try? remote.fields.get() { known.base = KnownFields(fields) }
        try known.save(database)
    }

    /// Inserts the rows of records that were quarantined because of their key, if it is free now.
    mutating func retryQuarantined() throws {
        let aside = try KnownRecord.fetchAll(
            database,
            where: "problem IS NOT NULL AND tbl IS NULL AND typeof(name) = 'text' AND "
                + "instr(name, char(10)) > 0"
        )
        for known in aside {
            guard let table = catalog.table(ofType: known.type),
                let key = RowKey(recordName: known.recordName, table)
            else { continue }
            var applier = try ChangeApplier(database, mapping, zone: known.zone)
            let other = try KnownRecord.fetch(database, name: known.recordName)
            guard try !applier.collides(other, key, table) else { continue }
            try known.delete(database)
            try applier.apply([RemoteRecord(kept: known, mapping)])
            for change in applier.changes {
                note(change.kind, RowKey(table: change.table, text: change.key))
            }
        }
    }

    // MARK: The end of a share

    /// Removes all rows of the zone from the file: this user no longer has access to them.
    ///
    /// Unsent edits are in the journal.
    mutating func leaveZone() throws {
        let keys = try Row.fetchAll(
            database,
            sql: "SELECT tbl, key FROM grdb_cloudkit_place WHERE zone = ?",
            arguments: [zone]
        ).map { RowKey(table: $0["tbl"], text: $0["key"]) }.sorted {
            (catalog.rank($1.table), $1.text) < (catalog.rank($0.table), $0.text)
        }
        // Rows may cascade to others of their own table.
        for key in keys { try keepEdits(of: key) }
        leaving = Set(keys)
        for key in keys { try letGo(key) }
        leaving = []
        try database.execute(
            sql: """
                DELETE FROM grdb_cloudkit_sent
                WHERE name IN (SELECT name FROM grdb_cloudkit_record WHERE zone = ?)
                """,
            arguments: [zone]
        )
        for table in ["grdb_cloudkit_record", "grdb_cloudkit_share", "grdb_cloudkit_zone"] {
            try database.execute(sql: "DELETE FROM \(table) WHERE zone = ?", arguments: [zone])
        }
        try retryQuarantined()
    }

    /// Removes the rows from the file that the deletion of the row above them takes out of a shared
    /// tree: they stay with their owner.
    ///
    /// A row that was only moved here, unknown to the server, returns to its previous place.
    mutating func letGoBelow(
        _ row: StoredRow,
        _ table: TableSchema,
        includesAll: Bool = false
    ) throws {
        for (name, foreignKey) in catalog.foreignKeys(to: table.name) {
            guard let child = catalog[name], foreignKey.columns == [child.parentColumn?.name],
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
    mutating func letGoWithAllBelow(_ key: RowKey) throws {
        if let table = catalog[key.table], let row = try rows.row(key, table) {
            try letGoBelow(row, table, includesAll: true)
        }
        try letGo(key)
    }

    /// Removes one row that is no longer accessible.
    mutating func letGo(_ key: RowKey) throws {
        guard let table = catalog[key.table] else { return }
        try keepEdits(of: key)
        if let row = try rows.row(key, table) {
            try deferForeignKeys()
            if isOthers { try clearReferences(to: key, table, row) }
            try rows.delete(key, table)
            note(.deleted, key)
        }
        if let name = try? key.recordName(table),
            let known = try KnownRecord.fetch(database, name: name), known.zone == zone
        {
            try known.delete(database)
        }
        try Place.remove(database, key)
    }

    /// Moves the unsent changes of an inaccessible row into the journal.
    func keepEdits(of key: RowKey) throws {
        guard let table = catalog[key.table], let entry = try OutboxEntry.fetch(database, key)
        else {
            return
        }
        if !entry.isDeleted, let row = try rows.row(key, table) {
            let fields = try mapping.fields(row, table).filter { entry.changed[$0.key] != nil }
            if !fields.isEmpty {
                let lost = MergePlan.Overruled(fields: fields, side: .local, rule: "access")
                try journal.add([lost], key, kept: nil, at: clock.edit(entry.version))
            }
        }
        try entry.clear(database)
    }

    /// Reverts an edit that the user may not make: it is kept in the journal, and the row gets the
    /// server's values.
    ///
    /// The next fetch shows whether the row may be written. The refusal may concern its new place,
    /// or a referenced row.
    mutating func takeBack(
        _ known: KnownRecord,
        _ entry: OutboxEntry,
        depth: Int = 0
    ) throws {
        let key = entry.key
        guard let table = catalog[key.table] else { return }
        guard known.system != nil else {
            try takeBackBelow(key, table, isNew: known.session == 0, depth: depth)
            return try letGo(key)
        }
        let existing = try rows.row(key, table)
        let shown = try existing.map { try mapping.fields($0, table) } ?? [:]
        let base = try known.baseFields(like: shown).known
        var lost: [String: StoreValue] = [:]
        if existing != nil, !entry.isDeleted {
            lost = shown.filter { entry.changed[$0.key] != nil }
        }
        let kept = base.filter { table.byField[$0.key] != nil }
        let overruled = MergePlan.Overruled(fields: lost, side: .local, rule: "access")
        if entry.isDeleted || !lost.isEmpty {
            try journal.add([overruled], key, kept: kept, at: clock.edit(entry.version))
        }
        try entry.clear(database)
        guard let candidate = try candidate(known.name) else { return }
        for field in lost.keys where candidate.fields[field] == nil {
            candidate.fields[field] = .null
        }
        try place([candidate])
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
    private mutating func takeBackBelow(
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
                    if isNew, let known { try release(foreignKey, of: known) }
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

extension KnownRecord {
    /// Returns the name under which a record is kept while its own name belongs to another record.
    static func name(_ name: String, asideIn zone: StoreZone) -> String { "\(zone.text)\n\(name)" }

    /// Returns whether a row shows NULL for a reference because its target stays with the owner.
    func hidesTarget(of value: StoreValue) -> Bool {
        guard zone.isShared, case .reference = value.plain else { return false }
        return true
    }

    /// The record's name on the server.
    var recordName: String { Self.recordName(name) }

    /// Returns the server's name of a record that is kept under another name.
    static func recordName(_ name: String) -> String {
        name.split(separator: "\n").last.map(String.init) ?? name
    }
}
