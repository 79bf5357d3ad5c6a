import GRDB
import Synchronization

/// The unsent deletions, by the UNIQUE values that they free.
///
/// Each is read once in a round of batches; whether it still waits is checked when its values are needed.
final class FreedValues: Sendable {
    /// The fields of a UNIQUE rule, and the deletions by their values.
    fileprivate struct Rule {
        var fields: [String]
        /// Deletions by digests of the values; a collision only sends a deletion earlier than necessary.
        var deletions: [[UInt32]: OutboxEntry] = [:]
    }

    fileprivate struct Table {
        var rules: [Rule]
        /// The newest version that was read, deletion or not: later entries have later versions.
        var last: Int64 = 0
    }

    private let tables = Mutex<[String: Table]>([:])

    /// Clears the cache, because the records may have changed.
    func forget() { tables.withLock { $0 = [:] } }

    /// Reads the deletions of a table since the last call.
    func read(_ table: TableSchema, _ rows: RowStore) throws {
        try tables.withLock { tables in
            var known =
                try tables.removeValue(forKey: table.name)
                ?? Table(rules: rows.uniqueColumns(table).map { Rule(fields: $0.map(\.field)) })
            try known.read(table, rows)
            tables[table.name] = known
        }
    }

    /// Returns the deletions whose values a row has.
    func deletions(for fields: [String: StoreValue], _ table: String) -> [OutboxEntry] {
        tables.withLock { tables in
            (tables[table]?.rules ?? []).compactMap { rule in
                rule.deletions[rule.fields.map { KnownFields.digest(fields[$0] ?? .null) }]
            }
        }
    }
}

extension FreedValues.Table {
    fileprivate mutating func read(_ table: TableSchema, _ rows: RowStore) throws {
        guard !rules.isEmpty else { return }
        let deletions = try OutboxEntry.fetchAll(
            rows.database,
            // The sign keeps SQLite from reading all of the table's entries instead of the newest.
            where: "version > ? AND problem IS NULL AND deleted <> 0 AND +tbl = ?",
            arguments: [last, table.name]
        )
        let newest = try rows.database.cachedStatement(
            sql: "SELECT max(version) FROM grdb_cloudkit_outbox"
        )
        last = max(last, try Int64.fetchOne(newest) ?? 0)
        // A key that is too long for a record name has no record.
        let names = deletions.map { try? $0.key.recordName(table) }
        let known = try KnownRecord.fetch(rows.database, names: names.compactMap(\.self))
        let wanted = Set(rules.flatMap { $0.fields })
        for (entry, name) in zip(deletions, names) {
            guard let record = name.flatMap({ known[$0] }), record.system != nil else { continue }
            let base = try record.base.digests(where: wanted.contains)
            for place in rules.indices {
                let values = rules[place].fields.compactMap { base[$0] }
                if values.count == rules[place].fields.count {
                    rules[place].deletions[values] = entry
                }
            }
        }
    }
}

extension BatchBuilder {
    /// Adds the deletions of rows whose UNIQUE values a new row takes, so that no device sees both:
    /// one would lose, and the other is about to be deleted.
    ///
    /// In a shared tree a record is deleted after those that are linked to it, so deletions keep
    /// their order there.
    ///
    /// - Parameters:
    ///   - fields: The row's fields.
    ///   - table: The row's table.
    ///   - depth: The number of rows that wait to follow this one into the batch.
    /// - Returns: Whether there is room for the row as well; otherwise it is sent with the next batch.
    /// - Throws: An error of the database.
    mutating func addDeletions(
        freeing fields: [String: StoreValue],
        _ table: TableSchema,
        depth: Int
    ) throws -> Bool {
        guard !hasPlaces else { return true }
        if readFreed.insert(table.name).inserted { try freed.read(table, rows) }
        let missing = try freed.deletions(for: fields, table.name).filter { deletion in
            guard !attempted.contains(deletion.version), try !isIncluded(deletion.key) else {
                return false
            }
            let entry = try OutboxEntry.fetch(database, deletion.key)
            return entry?.version == deletion.version && entry?.problem == nil
        }
        guard !missing.isEmpty else { return true }
        // An empty batch takes any number of them, or the row could never be sent.
        guard count == 0 || count + missing.count + depth < limit else { return false }
        for deletion in missing { try addDeletion(deletion) }
        return true
    }
}
