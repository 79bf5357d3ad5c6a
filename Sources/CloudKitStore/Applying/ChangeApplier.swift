import Foundation
import GRDB

/// An applier of the server's changes to rows, the outbox and the journal, within one transaction.
///
/// A record with local edits goes through the planner. A row whose parent is missing waits for it,
/// and a record that cannot become a row is quarantined with its reason: neither stops the rest.
struct ChangeApplier {
    /// A record that may become a row.
    final class Candidate {
        var known: KnownRecord
        let table: TableSchema
        let key: RowKey
        let existing: StoredRow?
        /// The row's new fields.
        var fields: [String: StoreValue]
        /// The same as prepared insertion values, if available.
        let insertion: StatementArguments?
        /// The record's stored fields for a row inserted with these values.
        let inserted: (base: Data, words: Words)?
        let files: [String: URL]

        init(
            known: KnownRecord,
            table: TableSchema,
            key: RowKey,
            existing: StoredRow?,
            fields: [String: StoreValue],
            insertion: StatementArguments? = nil,
            inserted: (base: Data, words: Words)? = nil,
            files: [String: URL] = [:]
        ) {
            self.known = known
            self.table = table
            self.key = key
            self.existing = existing
            self.fields = fields
            self.insertion = insertion
            self.inserted = inserted
            self.files = files
        }
    }

    let database: Database
    let mapping: RowMapping
    let rows: RowStore
    let journal: Journal
    let clock: StoreClock
    /// The zone of the records.
    let zone: StoreZone
    /// `true` when anything in the file is shared.
    var hasPlaces: Bool
    /// The current fetch, with which records are marked.
    let session: Int64

    /// The resulting changes, in order.
    private(set) var changes: [RowChange] = []
    /// The records whose rows lost to others with the same UNIQUE values.
    var displaced: Set<String> = []
    /// These rows, to be reported to the app.
    var replacedByDuplicate: [RowKey] = []
    /// The rows that were written, moved here, or whose share was added or removed, since their
    /// trees were last settled.
    var written: [RowKey] = []
    var reshared: [RowKey] = []
    /// The rows that are leaving this user's sight.
    var leaving: Set<RowKey> = []
    /// `true` while rows with UNIQUE values of others wait for the end of the fetch.
    var defersUniqueness = false
    /// `true` when an unchanged record arrived again, which only happens in a fetch from the beginning.
    private(set) var sawKnownRecord = false
    private var defersForeignKeys = false

    var catalog: TableCatalog { mapping.catalog }

    init(_ database: Database, _ mapping: RowMapping, zone: StoreZone = .own) throws {
        self.zone = zone
        hasPlaces = try Place.exist(database)
        self.database = database
        self.mapping = mapping
        rows = RowStore(database: database, mapping: mapping)
        clock = try StoreClock(database)
        journal = Journal(database, mapping.catalog)
        let statement = try database.cachedStatement(
            sql: "SELECT session FROM grdb_cloudkit_control"
        )
        session = try Int64.fetchOne(statement) ?? 0
    }

    /// Defers the check of foreign keys to the end of the transaction instead of each statement.
    ///
    /// SQLite then prepares every statement again, so this is called only before rows are written,
    /// and only if a table of the file refers to another.
    mutating func deferForeignKeys() throws {
        guard !defersForeignKeys else { return }
        defersForeignKeys = true
        let any = try database.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM sqlite_master
                    WHERE type = 'table' AND instr(upper(sql), 'REFERENCES'))
                """
        )
        if try Bool.fetchOne(any) ?? true {
            try database.execute(sql: "PRAGMA defer_foreign_keys = ON")
        }
    }

    mutating func note(_ kind: RowChange.Kind, _ key: RowKey) {
        changes.append(RowChange(kind, key))
    }

    /// Withdraws the report of an arrived row.
    mutating func forget(_ key: RowKey) {
        changes.removeAll { $0 == RowChange(.inserted, key) }
    }

    // MARK: Records

    /// Applies saved records.
    mutating func apply(_ arrived: [RemoteRecord]) throws {
        let records = try passOver(arrived)
        guard !records.isEmpty else { return }
        _ = try Words.adding(records.lazy.flatMap(\.missingWords), database)
        let batch = try BatchLookup(records, rows)
        var candidates: [Candidate] = []
        for record in records {
            if let candidate = try decide(record, batch) { candidates.append(candidate) }
        }
        try place(candidates)
        try settleTrees()
    }

    /// Removes the unread records whose version the file has, and reads the other unread ones.
    private mutating func passOver(_ records: [RemoteRecord]) throws -> [RemoteRecord] {
        let unread = records.filter(\.isUnread)
        guard !unread.isEmpty else { return records }
        let tags = try KnownRecord.tags(database, of: unread.map(\.name), in: zone)
        var same: [String] = []
        for record in unread where tags[record.name]?.tag == record.tag {
            same.append(record.name)
            // The echo of our own save arrives once; any other retryPolicy is a fetch from the beginning.
            if tags[record.name]?.session != KnownRecord.savedHere { sawKnownRecord = true }
        }
        try KnownRecord.mark(database, same, session)
        let known = Set(same)
        return records.compactMap { record in
            guard record.isUnread else { return record }
            guard !known.contains(record.name) else { return nil }
            return record.record.map { RemoteRecord($0, mapping) }
        }
    }

    /// Decides how a record changes its row; nil when there is nothing to write.
    private mutating func decide(
        _ remote: RemoteRecord,
        _ batch: BatchLookup
    ) throws -> Candidate? {
        var known = batch.known(remote.name)
        if let known, known.tag != nil, known.tag == remote.tag, known.zone == zone {
            // The echo of our own save arrives once; any other retryPolicy is a fetch from the beginning.
            if known.session != KnownRecord.savedHere { sawKnownRecord = true }
            try mark(known)
            return nil
        }
        if let table = catalog.table(ofType: remote.type), !table.isPublic,
            let key = remote.key, try collides(known, key, table)
        {
            try quarantine(remote, table)
            return nil
        }
        let before = known
        known = known ?? KnownRecord(name: remote.name, key: nil, type: remote.type, zone: zone)
        guard var known else { return nil }
        known.zone = zone
        known.session = session
        known.goes = false
        guard let table = catalog.table(ofType: remote.type),
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
        let fields: [String: StoreValue]
        do {
            fields = try remote.fields.get()
        } catch {
            return try keep(remote, known, key, "The record '\(remote.name)': \(error)")
        }
        return try merge(remote, fields, known, isNew: before?.system == nil, key, table, batch)
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
        if let fields = try? remote.fields.get() {
            known.tag = remote.tag
            known.system = remote.system
            known.base = KnownFields(fields)
        } else {
            known.tag = nil
            known.system = known.system ?? remote.system
        }
        try known.save(database)
        return nil
    }

    private mutating func merge(
        _ remote: RemoteRecord,
        _ fields: [String: StoreValue],
        _ record: KnownRecord,
        isNew: Bool,
        _ key: RowKey,
        _ table: TableSchema,
        _ batch: BatchLookup
    ) throws -> Candidate? {
        var known = record
        var entry = try batch.edits(key)
        // A record whose creation got no response has our save as its base.
        let isOurs = try resolveSent(&known, &entry, stamp: { RecordStamp(fields: fields) })
        let existing = try batch.row(key, table)
        let isKnown = try !isNew || isOurs || descends(fields, from: known)
        let shown = isKnown ? try existing.map { try mapping.fields($0, table) } : nil
        let base = isKnown ? try known.baseFields(like: shown ?? [:], fields) : nil
        let plan: MergePlan
        if entry == nil {
            let lost = overrun(base, by: fields, table)
            let next = existing == nil ? fields : Self.following(fields, base)
            plan = MergePlan(row: next, sending: .nothing, overruled: lost)
        } else {
            plan = try self.plan(base, existing, entry, fields, remote, table)
        }
        known.tag = remote.tag
        known.system = remote.system
        known.base = KnownFields(fields)
        known.problem = nil
        known.waiting = nil
        try locate(remote, key)
        // The trigger that saw the move placed the row, but not the rows below it.
        if hasPlaces, let column = table.parentColumn, entry?.changed[column.field] != nil {
            reshared.append(key)
        }
        try settle(entry, plan, key, base: fields)
        try journal.add(plan.overruled, key, kept: plan.row, at: clock.edit(entry?.version ?? 0))
        guard let row = plan.row else {
            try known.save(database)
            return nil
        }
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
        _ fields: [String: StoreValue],
        from known: KnownRecord
    ) throws -> Bool {
        let before = RecordStamp(fields: try known.baseFields { $0 == RecordStamp.field })
        return !before.isEmpty && RecordStamp(fields: fields).contains(versionsOf: before)
    }

    /// Returns the saved values of this device that a record lacks, because another device deleted
    /// the record without knowing them and the record was created again.
    private func overrun(
        _ base: [String: StoreValue]?,
        by fields: [String: StoreValue],
        _ table: TableSchema
    ) -> [MergePlan.Overruled] {
        guard let base, let saved = RecordStamp(fields: base).version(of: clock.device),
            RecordStamp(fields: fields).version(of: clock.device) ?? 0 < saved
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
        _ fields: [String: StoreValue],
        _ remote: RemoteRecord,
        _ table: TableSchema
    ) throws -> MergePlan {
        let local = try existing.map { row in
            MergeVersion(
                fields: try mapping.fields(row, table),
                times: (entry?.changed ?? [:]).mapValues(clock.edit)
            )
        }
        let known = fields.filter { table.byField[$0.key] != nil }
        let version = MergeVersion(fields: known, times: Self.times(fields, base, remote.modified))
        return planner(table, edited: Set(entry?.changed.keys ?? [:].keys)).plan(
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
        _ fields: [String: StoreValue],
        _ base: [String: StoreValue]?,
        _ modified: Int64?
    ) -> [String: EditTime] {
        let stamped = RecordStamp(fields: fields).times
        guard let modified else { return stamped }
        var times = stamped.mapValues {
            EditTime(microseconds: min($0.microseconds, modified), device: $0.device)
        }
        let before = base.map { RecordStamp(fields: $0).times } ?? [:]
        for field in Set(fields.keys).union(base?.keys ?? [:].keys) {
            guard stamped[field] == before[field],
                fields[field] ?? .null != base?[field] ?? .null
            else { continue }
            times[field] = EditTime(microseconds: modified, device: "")
        }
        return times
    }

    func planner(_ table: TableSchema, edited: Set<String>) -> MergePlanner {
        MergePlanner(
            edited: edited,
            deletion: table.declaration.deletion,
            saysNull: table.saysNull,
            rule: table.rule(ofField:)
        )
    }

    private func mark(_ known: KnownRecord) throws {
        let statement = try database.cachedStatement(
            sql: "UPDATE grdb_cloudkit_record SET session = ? WHERE name = ? AND session <> ?"
        )
        try statement.execute(arguments: [session, StoredName.value(known.name), session])
    }
}
