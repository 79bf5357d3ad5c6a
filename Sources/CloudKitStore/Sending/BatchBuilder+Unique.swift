import GRDB

/// The deletions of a table that are not in a batch yet, by the UNIQUE values that they set free.
struct FreedValues {
    /// The fields of a UNIQUE rule, and the deletions by their values.
    private var rules: [(fields: [String], deletions: [[StoreValue]: OutboxEntry])] = []

    /// The deletions whose values a row has.
    func deletions(for fields: [String: StoreValue]) -> [OutboxEntry] {
        rules.compactMap { rule in
            rule.deletions[rule.fields.map { fields[$0] ?? .null }]
        }
    }
}

extension FreedValues {
    /// Looks at the deletions of a table that wait to be sent.
    init(_ table: TableSchema, _ rows: RowStore, except attempted: Set<Int64>) throws {
        let rules = try rows.uniqueColumns(table).map { $0.map(\.field) }
        guard !rules.isEmpty else { return }
        let deletions = try OutboxEntry.fetchAll(
            rows.database,
            where: "problem IS NULL AND deleted <> 0 AND tbl = \(table.name.literal)"
        ).filter { !attempted.contains($0.version) }
        let names = deletions.map { try? $0.key.recordName(table) }
        let known = try KnownRecord.fetch(rows.database, names: names.compactMap(\.self))
        self.rules = rules.map { ($0, [:]) }
        for (entry, name) in zip(deletions, names) {
            guard let record = name.flatMap({ known[$0] }), record.system != nil else { continue }
            let base = try record.baseFields { field in rules.contains { $0.contains(field) } }
            for (place, fields) in rules.enumerated() {
                let values = fields.map { base[$0] ?? .null }
                if !values.contains(.null) { self.rules[place].deletions[values] = entry }
            }
        }
    }
}

extension BatchBuilder {
    /// Adds the deletions of rows whose UNIQUE values a new row takes, so that no device sees the two
    /// side by side: one would have to give way, and the other is about to go.
    ///
    /// In a shared tree a record goes after those that are linked to it, so that deletions keep their
    /// order there.
    ///
    /// - Parameters:
    ///   - fields: The row's fields.
    ///   - table: The row's table.
    ///   - depth: How many rows wait to follow this one into the batch.
    /// - Returns: Whether there is room for the row as well; it goes with the next batch if not.
    /// - Throws: An error of the database.
    mutating func addDeletions(
        freeing fields: [String: StoreValue],
        _ table: TableSchema,
        depth: Int
    ) throws -> Bool {
        guard !hasPlaces else { return true }
        if freed[table.name] == nil {
            freed[table.name] = try FreedValues(table, rows, except: attempted)
        }
        let deletions = freed[table.name]?.deletions(for: fields) ?? []
        let missing = try deletions.filter { try !isIncluded($0.key) }
        guard !missing.isEmpty else { return true }
        guard count == 0 || count + missing.count + depth < limit else { return false }
        for deletion in missing { try addDeletion(deletion) }
        return true
    }
}
