import GRDB

/// The phase that takes rows away whose records were deleted, children before parents.
struct RowDeleter: ApplyPhase {
    let context: ApplyContext

    private var judge: UniquenessJudge { UniquenessJudge(context: context) }
    private var placer: RowPlacer { RowPlacer(context: context) }
    private var withdrawer: RowWithdrawer { RowWithdrawer(context: context) }
    private var goneReferences: GoneReferences { GoneReferences(context: context) }
    private var movedObjects: MovedObjects { MovedObjects(context: context) }

    /// Applies deletions of records, children before parents.
    ///
    /// Objects that another client may have moved into another zone wait until all zones are fetched.
    func delete(_ names: [String], isFinal: Bool = false) throws {
        // Records of shared zones that wait for their keys are kept under names of their own.
        for name in names where context.hasPlaces || zone != .own {
            try KnownRecord.fetch(database, name: KnownRecord.name(name, asideIn: zone))?
                .delete(database)
        }
        let records = try names.compactMap { try KnownRecord.fetch(database, name: $0) }
            .filter { $0.zone == zone }
            .sorted {
                (catalog.rank($1.key?.table ?? ""), $1.name)
                    < (catalog.rank($0.key?.table ?? ""), $0.name)
            }
        guard isFinal || !movedObjects.mayMove else {
            for record in records { try movedObjects.postpone(record) }
            return
        }
        // Before the rows are deleted, while references to them can still be redirected.
        try replace(records)
        // Before deletions are kept: below a share that has ended, nothing can be deleted any more.
        try PlaceKeeper(context: context).forgetShares(names)
        if isOthers { try keepDeletions(of: records) }
        for record in records where try !movedObjects.giveAway(record) {
            try delete(record)
            try goneReferences.noteGone(record.name)
        }
    }

    /// Moves the unsent deletions among some records into the journal that leave sight with their
    /// share.
    ///
    /// The others were deleted by someone else too, or moved out of the share.
    private func keepDeletions(of records: [KnownRecord]) throws {
        let gone = Set(records.map(\.recordName))
        for record in records {
            guard let key = record.key, let table = catalog[key.table],
                let entry = try OutboxEntry.fetch(database, key), entry.isDeleted,
                try !isBelowTop(record.recordName, except: gone)
            else { continue }
            try withdrawer.keepDeletion(entry, table)
            try entry.clear(database)
        }
    }

    /// Returns whether a record of another user is in a shared tree of which the top remains.
    private func isBelowTop(_ name: String, except gone: Set<String>) throws -> Bool {
        // In a zone that is shared as a whole, every record is below the share.
        if try JoinedZone.isShared(zone, database) { return true }
        var current: String? = name
        var seen: Set<String> = []
        while let name = current, seen.insert(name).inserted {
            guard let key = try KnownRecord.fetch(database, name: name)?.key,
                let place = try Place.fetch(database, key), place.zone == zone
            else { return false }
            if place.share != nil, !gone.contains(name) { return true }
            current = place.parent
        }
        return false
    }

    /// Inserts rows that waited for the UNIQUE values of rows deleted now; references to the
    /// deleted rows are redirected to them.
    private func replace(_ records: [KnownRecord]) throws {
        let waiting = try KnownRecord.fetchAll(
            database,
            where: "problem IS NOT NULL AND tbl IS NOT NULL"
        )
        guard !waiting.isEmpty else { return }
        try context.deferForeignKeys()
        for record in records {
            guard let key = record.key, let table = catalog[key.table] else { continue }
            for known in waiting where known.key?.table == key.table {
                guard let row = try rows.row(key, table),
                    let candidate = try candidate(known.name), candidate.existing == nil,
                    try MissingParents(context: context).first(of: candidate) == nil,
                    // Another rival would still have the values, and no reference leads to another
                    // user's row.
                    try judge.rivals(of: candidate).map(\.key) == [key],
                    try judge.isOneUsers(key, candidate)
                else { continue }
                try judge.giveWay(key, row, to: candidate)
                try placer.place([candidate])
            }
        }
    }

    private func delete(_ record: KnownRecord) throws {
        try context.deferForeignKeys()
        guard let key = record.key, let table = catalog[key.table] else {
            return try record.delete(database)
        }
        var known = record
        var entry = try OutboxEntry.fetch(database, key)
        // A save in flight was either accepted before the deletion or never will be; either way the
        // record is deleted now.
        known.sent = nil
        guard let existing = try rows.row(key, table) else {
            if isOthers, entry?.isDeleted == true, known.system != nil {
                // The server's response to the deletion shows whether the owner deleted it, too,
                // or only moved it out of the share.
                known.forgetServer()
                return try known.save(database)
            }
            // Both sides deleted the row: nothing is left to send.
            if entry?.isDeleted == true { try entry?.clear(database) }
            return try known.delete(database)
        }
        let local = try mapping.fields(existing, table)
        let base = try known.baseFields(like: local)
        let edited = Set(entry?.changed.keys ?? [:].keys)
        let plan = MergePlanner(table, edited: edited).plan(
            base: base.filter { table.byField[$0.key] != nil },
            local: MergeVersion(fields: local, overwritten: entry?.overwritten(table) ?? []),
            remote: nil
        )
        // The edit survives the deletion: the record is created again with it.
        if plan.row != nil {
            try journal.add(
                plan.overruled,
                key,
                kept: plan.row,
                at: clock.edit(entry?.version ?? 0)
            )
            return try recreate(known, entry)
        }
        try movedObjects.release(key, table, existing)
        if try !isOthers && isReferred(key, existing, table) {
            // The deleting device had moved the other rows away; those changes may arrive later.
            known.goes = true
            return try known.save(database)
        }
        var overruled = plan.overruled
        if overruled.isEmpty, !isOthers, known.session == KnownRecord.savedHere {
            // The deleting device may not have seen this device's last save: CloudKit deletes the
            // record whatever its version. Another user's record may only be out of sight, with the save.
            overruled.append(.init(fields: local, side: .local, rule: "deletion"))
        }
        try journal.add(overruled, key, kept: nil, at: clock.edit(entry?.version ?? 0))
        try entry?.clear(database)
        entry = nil
        // Another device's edit may survive this deletion and lack edits that are known here.
        if table.declaration.deletion == .editWins {
            try DeletedRecord(zone: zone, fields: base.known).save(database, known.name)
        }
        if isOthers {
            try withdrawer.withdraw(key, table, existing)
        } else {
            try remove(key, table, existing)
        }
        try known.delete(database)
    }

    /// Converts a record that the server lost into one to be created again.
    ///
    /// It keeps its last version with the times of its edits, which others may have newer ones of.
    private func recreate(_ record: KnownRecord, _ entry: OutboxEntry?) throws {
        guard let key = record.key else { return }
        var known = record
        known.forgetServer()
        known.waiting = nil
        try known.save(database)
        let now = try StoreClock.tick(database)
        var saved = entry ?? OutboxEntry(key: key, isDeleted: false, changed: [:], version: now)
        // A new version, so that no acknowledgment of the earlier save clears the entry.
        saved.version = now
        // The refusal was of a record that no longer exists.
        saved.problem = nil
        try saved.save(database)
    }

    /// Removes a row.
    ///
    /// Rows that the schema deletes or clears with it are this device's own edits, because no other
    /// device may know of them.
    func remove(_ key: RowKey, _ table: TableSchema, _ row: StoredRow) throws {
        let children = catalog.foreignKeys(to: table.name)
        if zone != .own { try withdrawer.letGoBelow(row, table) }
        // Rows below a read-only row are deleted with their own records.
        if try children.isEmpty || Place.fetch(database, key)?.writes == false {
            try rows.delete(key, table)
        } else {
            try keepEdits(under: row, table, depth: 0)
            // With the triggers on, the rows that SQLite cascades to are noted as edits; the entry
            // of the row itself is removed below, because its deletion came from the server.
            try ControlTables.asEdit(database) { try rows.delete(key, table) }
            try OutboxEntry.fetch(database, key)?.clear(database)
        }
        context.note(.deleted, key)
    }

    /// Moves rows that are deleted with their parent into the journal, except those that were
    /// deleted explicitly.
    ///
    /// The device that deleted the parent also deleted the rows it knew, and these deletions
    /// precede the parent's. It never knew the remaining rows.
    private func keepEdits(under row: StoredRow, _ table: TableSchema, depth: Int) throws {
        // Cycles of cascades end where rows repeat; the limit is SQLite's own for triggers.
        guard depth < 100 else { return }
        for (name, foreignKey) in catalog.foreignKeys(to: table.name)
        where foreignKey.deletion == .cascade {
            guard let child = catalog[name] else { continue }
            for childRow in try rows.rows(referring: foreignKey, child, row) {
                guard let key = RowStore.key(childRow, child) else { continue }
                if try isKeptByOwner(key) {
                    let above = try RowStore.key(row, table)?.recordName(table) ?? ""
                    try withdrawer.clear(foreignKey, of: key, child, childRow, waitingFor: above)
                    continue
                }
                let entry = try OutboxEntry.fetch(database, key)
                let fields = try mapping.fields(childRow, child)
                let lost = MergePlan.Overruled(fields: fields, side: .local, rule: "cascade")
                try journal.add([lost], key, kept: nil, at: clock.edit(entry?.version ?? 0))
                try keepEdits(under: childRow, child, depth: depth + 1)
            }
        }
    }

    /// Returns whether the user may not delete another user's row.
    private func isKeptByOwner(_ key: RowKey) throws -> Bool {
        guard isOthers, let place = try Place.fetch(database, key) else { return false }
        return place.zone == zone && (place.share != nil || !place.writes)
    }

    /// Returns whether rows refer to a row, or to one that it cascades to, by a foreign key that
    /// blocks its deletion.
    func isReferred(_ key: RowKey, _ row: StoredRow, _ table: TableSchema) throws -> Bool {
        var going: Set<RowKey> = [key]
        var next = [(row, table)]
        while let (row, table) = next.popLast() {
            for (name, foreignKey) in catalog.foreignKeys(to: table.name)
            where foreignKey.deletion == .cascade {
                guard let child = catalog[name], catalog.isHeld(child.name) else { continue }
                for childRow in try rows.rows(referring: foreignKey, child, row) {
                    guard let childKey = RowStore.key(childRow, child),
                        going.insert(childKey).inserted
                    else { continue }
                    if try isHeld(childKey, childRow, child, except: going) { return true }
                    next.append((childRow, child))
                }
            }
        }
        return try isHeld(key, row, table, except: [key])
    }

    /// Returns whether rows refer to a row by a foreign key that blocks its deletion.
    private func isHeld(
        _ key: RowKey,
        _ row: StoredRow,
        _ table: TableSchema,
        except going: Set<RowKey>
    ) throws -> Bool {
        // SQLite refuses a deletion for these two actions; the others change the referring rows.
        for (name, foreignKey) in catalog.foreignKeys(to: table.name)
        where foreignKey.deletion == .restrict || foreignKey.deletion == .noAction {
            guard let child = catalog[name] else { continue }
            let referring = try rows.rows(referring: foreignKey, child, row)
                .compactMap { RowStore.key($0, child) }
            if referring.contains(where: { !going.contains($0) }) { return true }
        }
        return false
    }

    // MARK: At the end of a fetch

    /// Deletes rows whose deletion waited for references to end.
    ///
    /// A row that is still referenced is needed here, so its record is created again.
    func finish() throws {
        if movedObjects.mayMove {
            let names = try KnownRecord.fetchAll(
                database,
                where: "goes <> 0 AND zone = ?",
                arguments: [zone]
            ).map(\.name)
            try delete(names, isFinal: true)
        }
        for known in try KnownRecord.fetchAll(
            database,
            where: "goes <> 0 AND zone = ?",
            arguments: [zone]
        ) {
            guard let key = known.key, let table = catalog[key.table],
                let existing = try rows.row(key, table)
            else {
                try known.delete(database)
                continue
            }
            guard try !isOthers && isReferred(key, existing, table) else {
                try delete(known)
                continue
            }
            let fields = try mapping.fields(existing, table)
            let lost = MergePlan.Overruled(fields: [:], side: .remote, rule: JournalEntry.reference)
            try journal.add([lost], key, kept: fields, at: clock.edit(0))
            var kept = known
            kept.goes = false
            try recreate(kept, OutboxEntry.fetch(database, key))
        }
        try DeletedRecord.trim(database)
    }
}
