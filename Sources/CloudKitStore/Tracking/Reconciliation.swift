import Foundation
import GRDB

/// The reconciliation of outbox and rows after changes that no trigger saw: a table that is new to
/// the store, a table that a migration rebuilt, or columns added by an upgrade.
struct Reconciliation {
    let database: Database
    let mapping: RowMapping

    init(_ database: Database, _ mapping: RowMapping) {
        self.database = database
        self.mapping = mapping
    }

    /// Installs triggers, and adopts the changes since the store was last open.
    ///
    /// - Returns: The tables whose records have to be read again, because the previous version of the app did not know
    ///   their format.
    func run() throws -> [String] {
        try OutboxEntry.separate(database)
        let known = Dictionary(
            uniqueKeysWithValues: try Row.fetchAll(
                database,
                sql: "SELECT * FROM grdb_cloudkit_table"
            )
            .map { ($0["name"] as String, $0["fingerprint"] as String) }
        )
        var unread: [String] = []
        try nameWords()
        for table in mapping.catalog.tables {
            let hadTriggers = try !TrackingTriggers(table).install(in: database)
            let former = try known[table.name] == nil ? adopt(table, known) : nil
            if let fingerprint = known[former ?? table.name] {
                try DroppedEdits(database: database)
                    .note(table, formerly: former ?? table.name, mapping.catalog)
                if table.readsOtherwise(than: fingerprint) { unread.append(table.name) }
                let new = Self.newFields(table, fingerprint)
                if !new.isEmpty { try fill(table, new) }
                // Without triggers, changes may have been missed.
                if !hadTriggers { try compare(table, new: new) }
            } else {
                // Existing values are older than any edit.
                try add(table, editedAt: StoreClock.start)
            }
            guard known[table.name] != table.fingerprint else { continue }
            try database.run(
                "INSERT OR REPLACE INTO grdb_cloudkit_table (name, fingerprint) VALUES (?, ?)",
                [table.name, table.fingerprint]
            )
        }
        // Its records stay: if the table is declared again, only rows that the server lacks are
        // sent.
        for name in known.keys.sorted() where mapping.catalog[name] == nil {
            try TrackingTriggers.remove(from: name, in: database)
            try SharingTriggers.remove(from: name, in: database)
            try database.execute(
                sql: "DELETE FROM grdb_cloudkit_table WHERE name = ?",
                arguments: [name]
            )
        }
        if try Place.exist(database) {
            try SharingTriggers.install(mapping.catalog, in: database)
        }
        try fillNewTypes()
        try readAgain(unread)
        return unread
    }

    /// Assigns numbers to the words of the records, the smallest to the most frequent.
    private func nameWords() throws {
        var words = [RecordStamp.field, try StoreClock(database).device]
        for table in mapping.catalog.tables {
            words += [table.recordType, table.name] + table.columns.map(\.field)
        }
        _ = try Words.adding(words, database, areNeeded: true)
    }

    /// Adopts the state of a table that was renamed but kept its record type.
    ///
    /// - Returns: The table's previous name; nil when the table is new.
    private func adopt(_ table: TableSchema, _ known: [String: String]) throws -> String? {
        let names = try String.fetchAll(
            database,
            sql: """
                SELECT DISTINCT \(Words.sql(ofNumber: "tbl")) FROM grdb_cloudkit_record
                WHERE type = \(Words.sql("?")) AND tbl IS NOT NULL
                """,
            arguments: [table.recordType]
        )
        var gone = names.filter { mapping.catalog[$0] == nil && known[$0] != nil }
        if gone.isEmpty {
            // Before the first sync there are no records, only rows that wait.
            gone = known.filter { name, fingerprint in
                mapping.catalog[name] == nil && Self.isOf(table.recordType, name, fingerprint)
            }
            .map(\.key)
        }
        // The tables of all links have one record type.
        guard table.format?.link == nil, gone.count == 1 else { return nil }
        try database.execute(
            sql: """
                UPDATE grdb_cloudkit_record SET tbl = \(Words.sql("?"))
                WHERE tbl = \(Words.sql("?"))
                """,
            arguments: [table.name, gone[0]]
        )
        for control in ["outbox", "place", "journal"] {
            try database.execute(
                sql: "UPDATE grdb_cloudkit_\(control) SET tbl = ? WHERE tbl = ?",
                arguments: [table.name, gone[0]]
            )
        }
        return gone[0]
    }

    /// Returns whether a table had a record type.
    private static func isOf(_ type: String, _ name: String, _ fingerprint: String) -> Bool {
        let marks = fingerprint.split(separator: " ").filter { $0.hasPrefix("=") }
        // A file of an older version does not say; by default the type is the name.
        return marks.isEmpty
            ? name == type : marks.contains { $0 == TableSchema.mark(ofType: type) }
    }

    /// Adds to the outbox the rows that the server does not have and that are not in it already.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - time: The edit time of their fields; the current time by default.
    /// - Throws: An error of the database.
    func add(_ table: TableSchema, editedAt time: Int64? = nil) throws {
        let now = try StoreClock.tick(database)
        let fields = TrackingTriggers.object(
            table.fieldColumns.map { "\($0.field.literal), ?3" }
        )
        let key = RowKey.sql(table, of: table.name.quoted)
        // Listed here, because the keys of records are stored in a form that SQL does not compare.
        let known = try KnownRecord.keys(database, of: table.name).map(JSONText.string)
        // Each entry has a version of its own, by which acknowledgments clear it.
        try database.execute(
            sql: """
                INSERT INTO grdb_cloudkit_outbox (tbl, key, deleted, changed, version, since)
                SELECT ?1, \(key), 0, \(fields),
                    ?2 + row_number() OVER (), ?2 FROM \(table.name.quoted)
                WHERE \(key) NOT IN (SELECT value FROM json_each(?4))
                ON CONFLICT (tbl, key) DO NOTHING
                """,
            arguments: [
                table.name, now, time ?? now, "[" + known.joined(separator: ",") + "]",
            ]
        )
        try StoreClock.passOutbox(database)
    }

    // MARK: Upgrades

    /// Schedules a fetch of everything that reads the records of some tables again, even unchanged ones.
    private func readAgain(_ tables: [String]) throws {
        for table in tables {
            try database.execute(
                sql: "UPDATE grdb_cloudkit_record SET tag = NULL WHERE tbl = \(Words.sql("?"))",
                arguments: [table]
            )
        }
        if !tables.isEmpty { try StoreFile.fetchEverything(database) }
    }

    /// Fills new columns with the values that the server had sent for them.
    private func fill(_ table: TableSchema, _ fields: Set<String>) throws {
        try write(table) { _, base, _, entry in
            base.filter { fields.contains($0.key) && entry?.changed[$0.key] == nil }
        }
    }

    /// Returns the fields of columns that are new or changed since the previous version.
    private static func newFields(_ table: TableSchema, _ fingerprint: String) -> Set<String> {
        let before = Set(fingerprint.split(separator: " ").map(String.init))
        return Set(
            table.columns.filter { !before.contains("\($0.name)=\($0.field):\($0.form)") }
                .map(\.field)
        )
    }

    /// Creates rows from records whose type was unknown.
    private func fillNewTypes() throws {
        try ControlTables.applying(database, mapping.catalog) {
            for table in mapping.catalog.tables {
                let records = try KnownRecord.fetchAll(
                    database,
                    where: "tbl IS NULL AND type = \(Words.sql("?"))",
                    arguments: [table.recordType]
                )
                for record in records where RowKey(recordName: record.name, table) != nil {
                    let remote = try RemoteRecord(kept: record, mapping)
                    guard remote.table?.name == table.name else { continue }
                    guard remote.isReadable else {
                        try record.fetchAgain(database)
                        continue
                    }
                    try record.delete(database)
                    try ChangeApplier(database, mapping, zone: record.zone).apply([remote])
                }
            }
            try ChangeApplier(database, mapping).retryHidden()
        }
    }

    /// Compares rows with the server's last state, after the triggers were missing for a while.
    ///
    /// Rows that differ are edits. Missing rows are restored: a rebuilt table is not a request to
    /// delete everything everywhere. Values that a migration put into new columns are older than
    /// every edit. A column's default is no edit where the server has no value.
    private func compare(_ table: TableSchema, new: Set<String>) throws {
        try add(table)
        let defaults = try RowStore(database: database, mapping: mapping).defaults(of: table)
        var edits: [OutboxEntry] = []
        let hidden = HiddenReferences(database: database, mapping: mapping)
        try write(table) { record, base, fields, entry in
            guard let fields, var edit = entry else { return base }
            // An asset that was never downloaded is NULL in its row, which is no edit.
            let found = fields.filter { $0.value != base[$0.key] ?? .null }.keys
                .filter { !isUndownloaded($0, fields, table) && edit.changed[$0] == nil }
                .filter { field in
                    let allowsNull = table.byField[field]?.isNotNull != true
                    let isThere = base[field].map { allowsNull || !$0.isNull } ?? false
                    return isThere || defaults[field] == nil || fields[field] != defaults[field]
                }
            let differing = try Set(found)
                .subtracting(hidden.fields(among: Set(found), of: fields, record, table))
            if !differing.isEmpty {
                for field in differing {
                    // A value that only has another written form is older than every edit.
                    let isEdit =
                        fields[field]?.plain != base[field]?.plain
                        && !(new.contains(field) && base[field] == nil)
                    edit.changed[field] = isEdit ? Self.unknownTime : StoreClock.start
                }
                edits.append(edit)
            }
            return [:]
        }
        for edit in edits {
            let now = try StoreClock.tick(database)
            var entry = edit
            entry.changed = edit.changed.mapValues { $0 == Self.unknownTime ? now : $0 }
            entry.version = now
            if edit.version == 0 { entry.since = now }
            try entry.save(database)
        }
    }

    private static let unknownTime: Int64 = -1

    private func isUndownloaded(
        _ field: String,
        _ fields: [String: StoreValue],
        _ table: TableSchema
    ) -> Bool {
        table.byField[field]?.form == .asset && fields[field]?.isNull ?? true
    }

    /// Returns the fields of a record's columns, some of which may not have been known when it arrived.
    private func current(
        _ record: KnownRecord,
        _ table: TableSchema,
        _ row: [String: StoreValue]
    ) throws -> [String: StoreValue] {
        let kept = try record.baseFields(like: row, row.mapValues(\.plain))
        let current = mapping.current(kept, table)
        if current != kept, !current.values.contains(.unknown) {
            var known = record
            known.base = KnownFields(current)
            try known.save(database, row: row, table)
        }
        return current.filter { table.byField[$0.key] != nil }
    }

    /// Writes into rows the result of a closure over the record, the server's version, the row and its edits.
    private func write(
        _ table: TableSchema,
        _ body: (
            _ record: KnownRecord, _ base: [String: StoreValue], _ fields: [String: StoreValue]?,
            _ entry: OutboxEntry?
        ) throws -> [String: StoreValue]
    ) throws {
        let rows = RowStore(database: database, mapping: mapping)
        try ControlTables.applying(database, mapping.catalog) {
            // A record that waits or is quarantined says nothing about the table's rows.
            let records = try KnownRecord.fetchAll(
                database,
                where:
                    "tbl = \(Words.sql("?")) AND system IS NOT NULL AND waiting IS NULL AND problem IS NULL",
                arguments: [table.name]
            )
            for record in records {
                guard let key = record.key else { continue }
                let existing = try rows.row(key, table)
                let entry =
                    try OutboxEntry.fetch(database, key)
                    ?? OutboxEntry(key: key, isDeleted: false, changed: [:], version: 0)
                // The deletion of the row waits to be sent.
                guard !entry.isDeleted else { continue }
                let fields = try existing.map { try mapping.fields($0, table) }
                let base = try current(record, table, fields ?? [:])
                var values = try body(record, base, fields, entry)
                if values.values.contains(.unknown) {
                    // A deleted row's values were deleted with it: the server has them.
                    try record.fetchAgain(database)
                    values = existing == nil ? [:] : values.known
                }
                guard !values.isEmpty else { continue }
                _ = try rows.write(values, key, table, over: existing, files: [:])
            }
        }
    }
}
