import GRDB

/// The references that another user's row shows without, because what they refer to is out of sight.
///
/// `INSERT OR REPLACE`, and an `INSERT` of a row whose deletion was not sent, write their NULL again.
/// Whoever wrote it saw no reference, so none was cleared.
struct HiddenReferences {
    let database: Database
    let mapping: RowMapping

    /// Returns a row's unsent changes without the references that it hides.
    ///
    /// - Parameters:
    ///   - entry: The changes.
    ///   - row: The row's fields, at least those that have changed.
    ///   - known: The record, in the server's last known version.
    ///   - table: The table.
    /// - Returns: The changes; they are not saved.
    /// - Throws: An error of the database.
    func leftOut(
        of entry: OutboxEntry,
        _ row: [String: StoreValue],
        _ known: KnownRecord,
        _ table: TableSchema
    ) throws -> OutboxEntry {
        guard known.zone.isShared, !entry.isDeleted else { return entry }
        let inserted = Set(entry.changed.keys).subtracting(entry.overwritten(table))
        var left = entry
        for field in try fields(among: inserted, of: row, known, table) {
            left.changed[field] = nil
        }
        return left
    }

    /// Returns those of some fields of a row that are NULL because they hide a reference.
    func fields(
        among fields: Set<String>,
        of row: [String: StoreValue],
        _ known: KnownRecord,
        _ table: TableSchema
    ) throws -> Set<String> {
        guard known.zone.isShared, known.system != nil, let key = known.key else { return [] }
        let references = table.foreignKeys.flatMap(\.columns).compactMap { table.column($0)?.field }
        let empty = fields.intersection(references).filter { row[$0]?.isNull ?? true }
        guard !empty.isEmpty else { return [] }
        let base = try known.baseFields(where: empty.contains).known.filter { !$0.value.isNull }
        guard !base.isEmpty else { return [] }
        let candidate = Candidate(
            known: known,
            table: table,
            key: key,
            existing: nil,
            fields: row.merging(base) { $1 }
        )
        let context = try ApplyContext(
            database,
            mapping,
            zone: known.zone,
            defersUniqueness: true
        )
        var hidden: Set<String> = []
        for missing in try MissingParents(context: context).all(of: candidate)
        where try !isDeletedHere(missing.name, missing.foreignKey) {
            hidden.formUnion(missing.foreignKey.columns.compactMap { table.column($0)?.field })
        }
        return hidden.intersection(base.keys)
    }

    /// Returns whether this user has deleted a record, so that references to it were seen and cleared.
    private func isDeletedHere(_ name: String, _ foreignKey: ForeignKey) throws -> Bool {
        guard let parent = mapping.catalog[foreignKey.parent],
            let key = RowKey(recordName: name, parent)
        else { return false }
        return try OutboxEntry.fetch(database, key)?.isDeleted == true
    }
}
