import CloudKit
import GRDB

/// The phase that decides how an arrived record changes its row: with the file's state and the row's unsent
/// edits, a record becomes a candidate.
struct RecordDecider: ApplyPhase {
    let context: ApplyContext

    private var settlement: OutboxSettlement { OutboxSettlement(context: context) }
    private var takenKeys: TakenKeys { TakenKeys(context: context) }
    private var places: PlaceKeeper { PlaceKeeper(context: context) }

    /// Returns the candidates of the records that change a row; the others are kept as they are.
    func decide(_ arrived: [RemoteRecord]) throws -> [Candidate] {
        let records = try passOver(arrived)
        guard !records.isEmpty else { return [] }
        // All words of the batch at once: each addition makes a new edition, which every reader has
        // to read.
        _ = try Words.adding(records.lazy.flatMap(\.missingWords), database)
        let batch = try BatchLookup(records, rows)
        return try records.compactMap { record in
            try decide(record, context.hasFreedKeys ? BatchLookup([record], rows) : batch)
        }
    }

    /// Removes the unread records whose version the file has, and reads the other unread ones.
    private func passOver(_ records: [RemoteRecord]) throws -> [RemoteRecord] {
        let unread = records.filter(\.isUnread)
        guard !unread.isEmpty else { return records }
        // Names and tags first, because a record costs more to read than to recognize.
        let tags = try KnownRecord.tags(database, of: unread.map(\.name), in: zone)
        var same: [String] = []
        for record in unread where tags[record.name]?.tag == record.tag {
            same.append(record.name)
            // The echo of our own save arrives once; any other repetition is a fetch from the beginning.
            if tags[record.name]?.session != KnownRecord.savedHere { context.sawKnownRecord = true }
        }
        // Marked although unchanged: a sweep deletes the records that a full fetch did not include.
        try KnownRecord.mark(database, same, context.session)
        let known = Set(same)
        return records.compactMap { record in
            guard record.isUnread else { return record }
            guard !known.contains(record.name) else { return nil }
            return record.record.map { RemoteRecord($0, mapping) }
        }
    }

    /// Decides how a record changes its row; nil when there is nothing to write.
    private func decide(
        _ remote: RemoteRecord,
        _ batch: BatchLookup
    ) throws -> Candidate? {
        var (known, batch) = (batch.known(remote.name), batch)
        if let known, known.tag != nil, known.tag == remote.tag, known.zone == zone {
            // The echo of our own save arrives once; any other repetition is a fetch from the beginning.
            if known.session != KnownRecord.savedHere { context.sawKnownRecord = true }
            try mark(known)
            return nil
        }
        // Before the merge: the row that has this key may belong to another user's record.
        if let table = remote.table, !table.isPublic,
            let key = remote.key, let holder = try takenKeys.holder(of: key, known, table)
        {
            guard try takenKeys.takes(key, remote, known, table, from: holder) else {
                try takenKeys.quarantine(remote, table, holder: holder)
                return nil
            }
            if table.format != nil {
                try MovedObjects(context: context).take(remote, from: known, key, table)
            } else {
                try takenKeys.free(key, from: holder)
                known = nil
            }
            batch = try BatchLookup([remote], rows)
        }
        let before = known
        known = known ?? KnownRecord(name: remote.name, key: nil, type: remote.type, zone: zone)
        guard var known else { return nil }
        known.zone = zone
        let isAssumed = known.session == KnownRecord.assumedThere
        known.session = context.session
        // A record that arrives exists, although its deletion waited for references to end.
        known.goes = false
        // A table syncs with one database: in the other one its type is a type without rows.
        guard let table = remote.table,
            table.isPublic == (zone == .public)
        else {
            return try keep(remote, known, nil, nil)
        }
        guard let key = remote.key else {
            let problem =
                "The record name '\(remote.name)' is not valid for the table '\(table.name)': it must "
                + "start with '\(table.recordType):' and name the key"
            return try keep(remote, known, nil, problem)
        }
        known.key = key
        var fields: [String: StoreValue]
        do {
            fields = try remote.fields.get()
        } catch {
            return try keep(remote, known, key, "The record '\(remote.name)': \(error)")
        }
        // The version that the other client had deleted is not known: it is taken to be this one.
        if isAssumed { known.base = KnownFields(fields) }
        let cleared = try before.flatMap { try withoutStaleForms(fields, $0, table) }
        if let cleared { fields = cleared }
        let candidate = try merge(
            remote,
            fields,
            into: known,
            // A record that the server lost has no system fields, but still counts as sent.
            isNew: before?.system == nil,
            isFirst: before?.wasSent != true,
            key,
            table,
            batch
        )
        if cleared != nil { try sendForms(of: key, table) }
        return candidate
    }

    /// Returns a record's fields without the values whose forms were out of date in the file's version; nil if there are
    /// none.
    private func withoutStaleForms(
        _ fields: [String: StoreValue],
        _ known: KnownRecord,
        _ table: TableSchema
    ) throws -> [String: StoreValue]? {
        let isFormAlone = fields.values.contains { value in
            if case .written(.null, _) = value { true } else { false }
        }
        guard isFormAlone, table.format == nil,
            case .text(let text)? =
                try known.baseFields(where: { $0 == RecordForms.field })[RecordForms.field]
        else { return nil }
        return RowMapping.forgetting(RecordForms(text), in: fields)
    }

    /// Adds the forms of a row's record to its unsent changes, so that devices which have seen no other version do not
    /// take those that are out of date for values.
    private func sendForms(of key: RowKey, _ table: TableSchema) throws {
        guard try rows.row(key, table) != nil, try Place.fetch(database, key)?.writes != false,
            try OutboxEntry.fetch(database, key)?.isDeleted != true
        else { return }
        try OutboxEntry.noteEdit(of: key, [RecordForms.field], database)
    }

    /// Keeps a record that cannot become a row now.
    private func keep(
        _ remote: RemoteRecord,
        _ record: KnownRecord,
        _ key: RowKey?,
        _ problem: String?
    ) throws -> Candidate? {
        var known = record
        known.key = key
        known.problem = problem
        // A record that cannot be read has its problem instead.
        if let fields = try? remote.fields.get() {
            known.tag = remote.tag
            known.system = remote.system
            known.base = KnownFields(fields)
        } else {
            // Without its tag the record counts as unread, and is applied when it arrives again.
            known.tag = nil
            known.system = known.system ?? remote.system
        }
        try known.save(database)
        return nil
    }

    private func merge(
        _ remote: RemoteRecord,
        _ fields: [String: StoreValue],
        into record: KnownRecord,
        isNew: Bool,
        isFirst: Bool,
        _ key: RowKey,
        _ table: TableSchema,
        _ batch: BatchLookup
    ) throws -> Candidate? {
        var known = record
        var entry = try batch.edits(key)
        // A record whose creation got no response has our save as its base.
        lazy var stamp = RecordStamp(fields: fields)
        let isOurs = try settlement.resolveSent(&known, &entry, in: fields, table, isFirst: isFirst)
        {
            stamp
        }
        let existing = try batch.row(key, table)
        let isKnown = try !isNew || isOurs || descends(stamp, from: known)
        let shown = try existing.map { try mapping.fields($0, table) } ?? [:]
        entry = try entry.map { try hidden.leftOut(of: $0, shown, known, table) }
        let before = existing != nil || isKnown ? try known.baseFields(like: shown, fields) : [:]
        let base = isKnown ? before : nil
        // Without a stamp there is nothing to compare, and a row that is deleted here restores
        // nothing.
        let lost =
            before[RecordStamp.field] == nil || entry?.isDeleted == true
            ? nil : lostEdits(of: before, in: fields, stamp, remote.modified, entry, table)
        var plan: MergePlan
        // The usual case in a fetch: without edits of its own, the row follows the server.
        if entry == nil {
            let overruled = lost == nil ? overrun(base, by: fields, stamp, table) : []
            let next = existing == nil ? fields : Self.following(fields, base)
            plan = MergePlan(row: next, sending: .nothing, overruled: overruled)
        } else {
            // The times of a record that was created again are no edits.
            let isSame =
                known.system != nil
                && known.archived()?.creationDate == remote.record?.creationDate
            plan = try self.plan(
                base,
                existing,
                entry,
                for: fields,
                stamp.times,
                of: remote,
                isSame: isSame,
                table
            )
        }
        // Where the user may not write, the edits could not be sent.
        if let lost, existing != nil, try Place.fetch(database, key)?.writes != false {
            plan.restore(lost)
        }
        known.tag = remote.tag
        known.system = remote.system
        known.base = KnownFields(fields)
        known.problem = nil
        // A row that already shows stays, with its permission.
        known.waiting = existing == nil ? try places.missingShare(of: remote) : nil
        try places.locate(remote, key)
        // The server lets only the owner delete the top of a shared tree, so the deletion is
        // reverted.
        if isOthers, remote.share != nil, entry?.isDeleted == true {
            context.deletedTops.append(key)
        }
        // The trigger that saw the move placed the row, but not the rows below it.
        if context.hasPlaces, let column = table.parentColumn, entry?.changed[column.field] != nil {
            context.reshared.append(key)
        }
        try settlement.settle(entry, plan, key)
        try journal.add(plan.overruled, key, kept: plan.row, at: clock.edit(entry?.version ?? 0))
        guard let row = plan.row, known.waiting == nil else {
            try known.save(database)
            return nil
        }
        // Prepared values fit only a new row without edits. Another user's values are kept in full,
        // because they may have to be restored without a fetch.
        let isPlain = existing == nil && entry == nil
        return Candidate(
            known: known,
            table: table,
            key: key,
            existing: existing,
            fields: row,
            insertion: isPlain ? remote.insertion : nil,
            inserted: isPlain && zone == .own ? remote.inserted : nil,
            files: remote.files
        )
    }

    /// Returns whether a record that is new on the server derives from this device's version, from
    /// before their zone was deleted.
    private func descends(
        _ stamp: @autoclosure () -> RecordStamp,
        from known: KnownRecord
    ) throws -> Bool {
        let before = RecordStamp(fields: try known.baseFields { $0 == RecordStamp.field })
        return !before.isEmpty && stamp().contains(versionsOf: before)
    }

    /// Returns the edits of the file's version that a record lacks, except those that were made again here.
    private func lostEdits(
        of before: [String: StoreValue],
        in fields: [String: StoreValue],
        _ stamp: RecordStamp,
        _ modified: Int64?,
        _ entry: OutboxEntry?,
        _ table: TableSchema
    ) -> LostEdits? {
        LostEdits(
            of: before,
            in: fields,
            (RecordStamp(fields: before), stamp),
            modified: modified,
            isCompared: { table.isRestorable($0) && entry?.changed[$0] == nil },
            rule: table.rule(ofField:)
        )
    }

    /// Returns the saved values of this device that a record lacks, because another device deleted
    /// the record without knowing them and the record was created again.
    private func overrun(
        _ base: [String: StoreValue]?,
        by fields: [String: StoreValue],
        _ stamp: @autoclosure () -> RecordStamp,
        _ table: TableSchema
    ) -> [MergePlan.Overruled] {
        guard let base, let saved = RecordStamp(fields: base).version(of: clock.device),
            stamp().version(of: clock.device) ?? 0 < saved
        else { return [] }
        let lost = base.filter {
            table.byField[$0.key] != nil && !$0.value.isUnknown
                && $0.value != fields[$0.key] ?? .null
        }
        return lost.isEmpty ? [] : [.init(fields: lost, side: .local, rule: "deletion")]
    }

    /// Returns the fields of a row without edits: the server's, with deleted ones cleared.
    ///
    /// A field that was never set leaves its column unchanged.
    private static func following(
        _ fields: [String: StoreValue],
        _ base: [String: StoreValue]?
    ) -> [String: StoreValue] {
        guard let base else { return fields }
        return fields.merging(base.compactMapValues { $0.isNull ? nil : .null }) { new, _ in new }
    }

    private func plan(
        _ base: [String: StoreValue]?,
        _ existing: StoredRow?,
        _ entry: OutboxEntry?,
        for fields: [String: StoreValue],
        _ stamped: [String: EditTime],
        of remote: RemoteRecord,
        isSame: Bool,
        _ table: TableSchema
    ) throws -> MergePlan {
        let local = try existing.map { row in
            MergeVersion(
                fields: try mapping.fields(row, table),
                times: (entry?.changed ?? [:]).mapValues(clock.edit),
                overwritten: entry?.overwritten(table) ?? [],
                unedited: Set((entry?.changed ?? [:]).filter { $0.value == StoreClock.start }.keys)
            )
        }
        let known = fields.filter { table.byField[$0.key] != nil }
        let before = base.map { RecordStamp(fields: $0).times }
        // Fields whose times of editing are others than the base's.
        let overwritten = stamped.keys.filter { field in
            guard isSame, let before else { return false }
            return before[field] != stamped[field] && table.byField[field] != nil
        }
        let version = MergeVersion(
            fields: known,
            times: Self.times(of: fields, stamped, since: base, before ?? [:], remote.modified),
            overwritten: Set(overwritten),
            unedited: Set(stamped.filter { $0.value.microseconds == StoreClock.start }.keys)
        )
        return MergePlanner(table, edited: Set(entry?.changed.keys ?? [:].keys)).plan(
            base: base?.filter { table.byField[$0.key] != nil },
            local: local,
            remote: version
        )
    }

    /// Returns the times at which the fields of a record were edited.
    ///
    /// A field that changed while its time did not was edited by a client without stamps, at the time
    /// when the server received the record. No edit is later than that, whatever another device's
    /// clock reports.
    private static func times(
        of fields: [String: StoreValue],
        _ stamped: [String: EditTime],
        since base: [String: StoreValue]?,
        _ before: [String: EditTime],
        _ modified: Int64?
    ) -> [String: EditTime] {
        guard let modified else { return stamped }
        var times = stamped.mapValues {
            EditTime(microseconds: min($0.microseconds, modified), device: $0.device)
        }
        for field in Set(fields.keys).union(base?.keys ?? [:].keys) {
            guard stamped[field] == before[field],
                fields[field] ?? .null != base?[field] ?? .null
            else { continue }
            times[field] = EditTime(microseconds: modified, device: "")
        }
        return times
    }

    private func mark(_ known: KnownRecord) throws {
        // A row that is marked already is not written again.
        let statement = try database.cachedStatement(
            sql: "UPDATE grdb_cloudkit_record SET session = ? WHERE name = ? AND session <> ?"
        )
        try statement.execute(arguments: [
            context.session, StoredName.value(known.name), context.session,
        ])
    }
}

extension MergePlanner {
    /// Creates the planner of a table's rows.
    init(_ table: TableSchema, edited: Set<String>) {
        self.init(
            edited: edited,
            deletion: table.declaration.deletion,
            saysNull: table.saysNull,
            rule: table.rule(ofField:)
        )
    }
}
