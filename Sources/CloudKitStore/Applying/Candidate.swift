import Foundation
import GRDB

/// A record that may become a row.
final class Candidate {
    var known: KnownRecord
    let table: TableSchema
    let key: RowKey
    /// The row before it is written; nil when there is none.
    var existing: StoredRow?
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

    /// Returns the row with other fields.
    func with(_ fields: [String: StoreValue]) -> Candidate {
        Candidate(known: known, table: table, key: key, existing: existing, fields: fields)
    }
}

extension ApplyPhase {
    var hidden: HiddenReferences { HiddenReferences(database: database, mapping: mapping) }

    /// Returns a record that waited, with its current fields; nil if these are unknown.
    func candidate(_ name: String) throws -> Candidate? {
        // A deleted record must not become a row again, and the fields of an unread one are those
        // of an older version.
        guard var known = try KnownRecord.fetch(database, name: name), let key = known.key,
            let table = catalog[key.table], !known.goes, !known.isUnread
        else { return nil }
        known.waiting = nil
        known.problem = nil
        let existing = try rows.row(key, table)
        let entry = try OutboxEntry.fetch(database, key)
        // The row was deleted here and the deletion is not sent yet: it must not return.
        if existing == nil, entry?.isDeleted == true { return nil }
        let shown = try existing.map { try mapping.fields($0, table) } ?? [:]
        let base = try known.baseFields(like: shown)
        // Unsent edits are newer than the fields that were kept while the record waited.
        let edited =
            try entry.map { try hidden.leftOut(of: $0, shown, known, table).changed } ?? [:]
        return Candidate(
            known: known,
            table: table,
            key: key,
            existing: existing,
            fields: base.known.filter { table.byField[$0.key] != nil && edited[$0.key] == nil }
        )
    }
}
