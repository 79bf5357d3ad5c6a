import CloudKit
import Foundation
import GRDB

/// A builder of the next batch from the outbox, which notes the sent changes before they leave.
///
/// Parents precede children. A reference that closes a cycle, to a row that the server does not
/// have yet and cannot receive first, is left for the next round.
struct BatchBuilder {
    let database: Database
    let mapping: RowMapping
    /// The zone of the records.
    let zone: StoreZone
    let zoneID: CKRecordZone.ID
    /// The folder of assets to be sent.
    let folder: URL

    let rows: RowStore
    private let clock: StoreClock

    /// The maximum depth of parents that a row may bring into its batch.
    private static let depthLimit = 40

    private enum Visit {
        case inFlight
        case done
    }

    private(set) var limit = 0
    /// The versions that were already sent in this round.
    private(set) var attempted: Set<Int64> = []
    /// The times for the stamps of the batch's records, allocated together.
    private var versions: Range<Int64> = 0..<0
    /// The records of the entries that were read last, by name; nil for unknown ones.
    private var known: [String: KnownRecord?] = [:]
    /// The rows of these entries by table, as far as one statement finds them.
    private var found: [String: [RowKey: StoredRow]] = [:]
    private var visits: [RowKey: Visit] = [:]
    /// The values freed by each table's deletions, for the tables requested so far.
    let freed: FreedValues
    var readFreed: Set<String> = []
    private var batch = OutgoingBatch()

    /// `true` when anything in the file is shared.
    let hasPlaces: Bool
    /// The places of new rows that are shared with those that they are connected with.
    let objects: ConnectedObjects

    init(
        _ database: Database,
        _ file: StoreFile,
        zone: StoreZone,
        folder: URL,
        freed: FreedValues,
        objects: ConnectedObjects
    ) throws {
        self.freed = freed
        self.objects = objects
        self.database = database
        mapping = file.mapping
        self.zone = zone
        zoneID = file.id(zone)
        hasPlaces = try Place.exist(database)
        self.folder = folder
        rows = RowStore(database: database, mapping: mapping)
        clock = try StoreClock(database)
    }

    var catalog: TableCatalog { mapping.catalog }

    /// Returns the next batch.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of records in it.
    ///   - attempted: The versions that were already sent in this round.
    /// - Returns: The batch; an empty one when nothing remains.
    /// - Throws: An error of the database.
    mutating func next(limit: Int, except attempted: Set<Int64>) throws -> OutgoingBatch {
        self.limit = limit
        self.attempted = attempted
        visits.reserveCapacity(limit)
        batch.entries.reserveCapacity(limit)
        batch.sent.reserveCapacity(limit)
        // Sent after the saves, which may move references away from deleted records.
        var deletions: [OutboxEntry] = []
        var leaving: [OutboxEntry] = []
        var last: Int64 = 0
        let condition = " AND \(isInZone)"
        // Deletions and attempted entries do not count, so one portion may not fill the batch.
        while count < limit {
            let entries = try OutboxEntry.fetchAll(
                database,
                where: "problem IS NULL AND version > ?\(condition)",
                arguments: [last],
                limit: limit
            )
            guard let newest = entries.last?.version else { break }
            last = newest
            try lookUp(entries)
            for entry in entries where !attempted.contains(entry.version) {
                if entry.isDeleted {
                    deletions.append(entry)
                } else if try leavesTree(entry) {
                    leaving.append(entry)
                } else if count < limit {
                    try visit(entry, depth: 0)
                }
            }
            // There are enough to fill a batch, whatever else can be sent.
            if deletions.count >= limit { break }
        }
        // A record is deleted after those linked to it, as some unshared ones still are.
        deletions.sort { catalog.rank($0.key.table) > catalog.rank($1.key.table) }
        let held = try recordsAbove(leaving)
        for entry in deletions where count < limit {
            // A key that is too long for a record name has no record, so nothing is below it.
            if let name = try? name(entry.key), held.contains(name) { continue }
            try addDeletion(entry)
        }
        // Rows below such a row are out of reach after it.
        let isAlone = count == 0
        for entry in leaving where isAlone && count < limit { try visit(entry, depth: 0) }
        batch.deletedAbove = try deletedAbove(batch.deletions.compactMap { batch.entries[$0.name] })
        return batch
    }

    /// The number of records in the batch.
    var count: Int { batch.saves.count + batch.deletions.count }

    /// Returns whether a row's change is in the batch.
    func isIncluded(_ key: RowKey) throws -> Bool { try batch.entries[name(key)] != nil }

    /// The SQL condition that rows of the outbox are in the zone.
    private var isInZone: String {
        // Public rows have no places: their tables name the database.
        let names = catalog.tables.filter(\.isPublic).map(\.name.literal)
        let list = "(\(names.joined(separator: ", ")))"
        if zone == .public { return "tbl IN \(list)" }
        let isPrivate = names.isEmpty ? "true" : "tbl NOT IN \(list)"
        // Without shares, every other row is in the user's own zone.
        guard hasPlaces else { return isPrivate }
        return """
            \(isPrivate) AND coalesce((SELECT zone FROM grdb_cloudkit_place p
                WHERE p.tbl = grdb_cloudkit_outbox.tbl AND p.key = grdb_cloudkit_outbox.key), '')
                = \(zone.text.literal)
            """
    }

    /// Reads the file's records of some entries, and their rows.
    private mutating func lookUp(_ entries: [OutboxEntry]) throws {
        // A key that is too long for a record name has no record.
        let names = entries.compactMap { try? name($0.key) }
        let records = try KnownRecord.fetch(database, names: names)
        for name in names { known[name] = .some(records[name]) }
        found = [:]
        for (name, keys) in Dictionary(grouping: entries.map(\.key), by: \.table) {
            if let table = catalog[name] { found[name] = try rows.rows(keys, table) }
        }
    }

    private func row(_ key: RowKey, _ table: TableSchema) throws -> StoredRow? {
        try found[table.name]?[key] ?? rows.row(key, table)
    }

    /// Returns a time for one record of the batch.
    private mutating func nextVersion() throws -> Int64 {
        if versions.isEmpty { versions = try StoreClock.ticks(database, limit) }
        defer { versions = versions.dropFirst() }
        return versions.lowerBound
    }

    // MARK: Saves

    /// Adds an entry after the rows that it refers to.
    private mutating func visit(
        _ entry: OutboxEntry,
        depth: Int
    ) throws {
        guard visits[entry.key] == nil, let table = catalog[entry.key.table] else { return }
        visits[entry.key] = .inFlight
        defer { visits[entry.key] = .done }
        guard let row = try row(entry.key, table) else { return try vanish(entry, table) }
        var open: Set<String> = []
        for parent in try mapping.targets(of: row, table) {
            // A row that refers to itself needs no other one.
            guard parent.key != entry.key, try !isOnServer(parent.key) else { continue }
            guard let parentEntry = try OutboxEntry.fetch(database, parent.key) else { continue }
            // The parent joins the batch only with room for the rows that wait to follow it.
            if visits[parent.key] == nil, parentEntry.problem == nil, depth < Self.depthLimit,
                count + depth + 1 < limit,
                !attempted.contains(parentEntry.version)
            {
                try visit(parentEntry, depth: depth + 1)
            }
            if try !isIncluded(parent.key) { open.insert(parent.field) }
        }
        // A row that needs a parent which cannot be sent waits for it.
        if open.contains(where: { table.byField[$0]?.isNotNull ?? true }),
            !isCircle(of: try mapping.targets(of: row, table))
        {
            return
        }
        if wouldBeLost(table, leavingOut: open) { return }
        try addSave(entry, row, table, leavingOut: open, depth: depth)
    }

    /// Returns whether one of the parents is being visited, so that waiting for it would never end.
    private func isCircle(of parents: [(field: String, key: RowKey)]) -> Bool {
        parents.contains { visits[$0.key] == .inFlight }
    }

    private func name(_ key: RowKey) throws -> String {
        guard let table = catalog[key.table] else { return "" }
        return try key.recordName(table)
    }

    /// Returns whether the server has a row's record, or will have it with this batch.
    func isThere(_ key: RowKey) throws -> Bool {
        try isIncluded(key) || isOnServer(key)
    }

    private func isOnServer(_ key: RowKey) throws -> Bool {
        try KnownRecord.fetch(database, name: try name(key))?.system != nil
    }

    /// Handles an entry whose row is missing although no deletion was noted: it was deleted where
    /// no trigger fires.
    private func vanish(_ entry: OutboxEntry, _ table: TableSchema) throws {
        let isThere = try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM \(table.name.quoted)
                    WHERE \(RowKey.sql(table, of: table.name.quoted)) = ?)
                """,
            arguments: [entry.key.text]
        )
        // A key that is not UTF-8 is read differently from the entry's.
        let isNoted = try OutboxEntry.fetch(database, entry.key) != nil
        guard isThere == false, isNoted else {
            let columns = table.keyColumns.map { "'\($0.name)' holds \($0.form) values" }
            return try quarantine(
                entry,
                "its key is of another type than its column's, \(columns.joined(separator: ", ")); "
                    + "correct the key, or declare the column's form"
            )
        }
        var deleted = entry
        deleted.isDeleted = true
        deleted.changed = [:]
        // The search for new deletions looks only at new versions.
        deleted.version = try StoreClock.tick(database)
        try deleted.save(database)
    }

    private mutating func addSave(
        _ entry: OutboxEntry,
        _ row: StoredRow,
        _ table: TableSchema,
        leavingOut open: Set<String>,
        depth: Int
    ) throws {
        let name: String
        do {
            name = try entry.key.recordName(table)
        } catch {
            return try quarantine(entry, "\(error)")
        }
        // Names that are only keys may collide with another table's row in this same batch.
        let found =
            table.isNamedByKey
            ? try KnownRecord.fetch(database, name: name)
            : try known[name] ?? KnownRecord.fetch(database, name: name)
        if let other = found?.key, other.table != entry.key.table, catalog[other.table] != nil {
            return try quarantine(
                entry,
                "its record would have the same name as that of a row of '\(other.table)'; change its key"
            )
        }
        var known =
            found ?? KnownRecord(name: name, key: entry.key, type: table.recordType, zone: zone)
        known.key = entry.key
        let isNew = known.system == nil
        guard try settle(entry, table, isNew: isNew) else { return }
        let sent = try known.sentFields()
        var fields: [String: StoreValue]
        do {
            // Of a record that the server has, only changed fields are read.
            fields = try mapping.fields(row, table) { field in
                isNew || entry.changed[field] != nil || sent?[field] != nil
            }
        } catch {
            return try quarantine(entry, "\(error)")
        }
        if isNew, try !addDeletions(freeing: fields, table, depth: depth) { return }
        let place = hasPlaces ? try Place.fetch(database, entry.key) : nil
        // Of a record that the server has, a change is compared with its field and the stamp alone.
        let base = try known.baseFields(like: fields, includesWritten: true) {
            isNew || entry.changed[$0] != nil || $0 == RecordStamp.field || $0 == RecordForms.field
                || table.format?.companions.values.contains($0) == true
        }
        if let sent, let version = known.sent?.version {
            // A save without a response is sent again unchanged, so that it counts once.
            let save = OutgoingSave(changes: sent, version: version, base: base, fields: fields)
            return try add(save, of: known, entry, row, table)
        }
        // A record that is created again keeps the references that its row cannot show yet.
        if isNew {
            let hidden = try known.hiddenReferences(in: fields, table)
            fields.merge(hidden.filter { entry.changed[$0.key] == nil }) { $1 }
        }
        let entry =
            isNew
            ? try keeping(open, of: entry, fields, base)
            : try HiddenReferences(database: database, mapping: mapping)
                .leftOut(of: entry, fields, known, table)
        var changes: [String: StoreValue] = [:]
        let overwritten = entry.overwritten(table)
        for (field, value) in fields where !open.contains(field) {
            // Where a missing value means the column's default, NULL has to be sent.
            let saysNull = value.isNull && table.saysNull(field)
            let before: StoreValue? = base[field] ?? (saysNull ? nil : .null)
            // A value that was changed and changed back is an edit with a time, too.
            let isChanged =
                entry.changed[field] != nil && (value != before || overwritten.contains(field))
            let isFirst = isNew && (saysNull || !value.isNull)
            guard isChanged || isFirst else { continue }
            changes[field] = value
        }
        // The forms are made for every save; this one is to be made.
        if entry.changed[RecordForms.field] != nil { changes[RecordForms.field] = .null }
        let isUnlinked = try isUnlinked(row, table, known, entry, place)
        guard !changes.isEmpty || isNew || isUnlinked else {
            // Everything equals the server's version; only an open reference still has to be sent.
            if open.isEmpty { try entry.clear(database) }
            return
        }
        let version = try nextVersion()
        if let format = table.format {
            do {
                if hasPlaces { try checkZones(of: changes, row, table) }
                changes = try format.outgoing(changes, of: row, over: base, isNew: isNew, table)
            } catch {
                return try quarantine(entry, "\(error)")
            }
        } else {
            changes[RecordStamp.field] = .text(stamp(base, entry, changes, version).text)
        }
        // Noted before the batch leaves, so that a lost response can be recognized.
        known.sent = KnownRecord.Sent(
            fields: FieldCoding.data(changes),
            version: version,
            entry: entry.version
        )
        if found?.key == entry.key {
            try known.saveSent(database)
        } else {
            try known.save(database)
        }
        let save = OutgoingSave(changes: changes, version: version, base: base, fields: fields)
        try add(save, of: known, entry, row, table)
        if known.wentWhole(entry, with: changes) {
            batch.sent[name] = SentRecord(
                tag: known.tag,
                version: version,
                base: try known.acceptedBase(changes, table, row: fields, database).data
            )
        }
    }

    /// Returns an entry with the references that a new record is sent without, so that they follow.
    ///
    /// Those of a record that is created again may be older than the entry's edits.
    private func keeping(
        _ open: Set<String>,
        of entry: OutboxEntry,
        _ fields: [String: StoreValue],
        _ base: [String: StoreValue]
    ) throws -> OutboxEntry {
        let missing = open.filter { entry.changed[$0] == nil && fields[$0]?.isNull == false }
        guard !missing.isEmpty else { return entry }
        let times = RecordStamp(fields: base).times
        var kept = entry
        for field in missing {
            kept.changed[field] = times[field].map(clock.time(of:)) ?? entry.since
        }
        try kept.save(database)
        return kept
    }

    /// Returns the record's stamp: all its previous versions, this one, and the times of the changes.
    ///
    /// A record that is created again keeps the times of its other fields.
    private func stamp(
        _ base: [String: StoreValue],
        _ entry: OutboxEntry,
        _ changes: [String: StoreValue],
        _ version: Int64
    ) -> RecordStamp {
        var stamp = RecordStamp(fields: base)
        lazy var times = stamp.times
        stamp.save(version, by: clock.device)
        // A field that is sent without an edit of its own keeps its time.
        for field in changes.keys where entry.changed[field] != nil || times[field] == nil {
            stamp.edit(field, at: clock.edit(entry.changed[field] ?? entry.since))
        }
        return stamp
    }

    private mutating func add(
        _ save: OutgoingSave,
        of known: KnownRecord,
        _ entry: OutboxEntry,
        _ row: StoredRow,
        _ table: TableSchema
    ) throws {
        let record =
            known.archived(in: zoneID)
            ?? CKRecord(
                recordType: table.recordType,
                recordID: CKRecord.ID(recordName: known.name, zoneID: zoneID)
            )
        let before = record.parent?.recordID.recordName
        // A link that remains of former sharing is checked, too.
        if hasPlaces || before != nil {
            let parent = try link(row, table, known, entry, current: before)
            if parent != before {
                record.parent = parent.map {
                    CKRecord.Reference(
                        recordID: CKRecord.ID(recordName: $0, zoneID: zoneID),
                        action: .none
                    )
                }
            }
        }
        var outgoing = OutgoingRecord(name: known.name, record: record)
        let isNew = known.system == nil
        try outgoing.write(save, of: row, table, mapping, isNew: isNew, folder: folder)
        batch.saves.append(outgoing)
        batch.entries[known.name] = entry
    }

    private func quarantine(_ entry: OutboxEntry, _ problem: String) throws {
        try OutboxEntry.quarantine(
            database,
            version: entry.version,
            "The row '\(entry.key.text)' of the table '\(entry.key.table)': \(problem)"
        )
    }

    // MARK: Deletions

    mutating func addDeletion(_ entry: OutboxEntry) throws {
        guard let table = catalog[entry.key.table] else { return }
        let name: String
        do {
            name = try entry.key.recordName(table)
        } catch {
            // A row whose record has no name was never sent.
            return try entry.clear(database)
        }
        // It may already be in the batch with the row that takes its place.
        guard batch.entries[name] == nil else { return }
        // Another user's record that is out of sight may exist, so its deletion is sent.
        guard let known = try KnownRecord.fetch(database, name: name),
            known.system != nil || known.sent != nil || (zone.isShared && known.wasSent)
        else {
            // Inserted and deleted before it was sent: the server never receives it.
            try entry.clear(database)
            try KnownRecord.fetch(database, name: name)?.delete(database)
            batch.freesKeys = true
            return try Place.remove(database, entry.key)
        }
        batch.deletions.append((name, known.tag))
        batch.entries[name] = entry
    }
}
