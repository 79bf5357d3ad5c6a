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
    ///   - fields: The row's fields, at least those that have changed.
    ///   - known: The record, in the server's last known version.
    ///   - table: The table.
    /// - Returns: The changes; they are not saved.
    /// - Throws: An error of the database.
    func leftOut(
        of entry: OutboxEntry,
        _ fields: [String: StoreValue],
        _ known: KnownRecord,
        _ table: TableSchema
    ) throws -> OutboxEntry {
        guard known.zone.isShared, known.system != nil, !entry.isDeleted, !table.foreignKeys.isEmpty
        else { return entry }
        let updated = entry.overwritten(table)
        let inserted = Set(
            table.foreignKeys.flatMap(\.columns).compactMap { table.column($0)?.field }
        )
        .filter { field in
            entry.changed[field] != nil && !updated.contains(field)
                && fields[field]?.isNull ?? true
        }
        guard !inserted.isEmpty else { return entry }
        let hidden = try known.baseFields(where: inserted.contains).known.filter {
            !$0.value.isNull
        }
        guard !hidden.isEmpty else { return entry }
        let candidate = Candidate(
            known: known,
            table: table,
            key: entry.key,
            existing: nil,
            fields: fields.merging(hidden) { $1 }
        )
        let context = try ApplyContext(
            database,
            mapping,
            zone: known.zone,
            defersUniqueness: true
        )
        var left = entry
        for missing in try MissingParents(context: context).all(of: candidate)
        where try !isDeletedHere(missing.name, missing.foreignKey) {
            for column in missing.foreignKey.columns.compactMap(table.column)
            where hidden[column.field] != nil {
                left.changed[column.field] = nil
            }
        }
        return left
    }

    /// Returns whether this user has deleted a record, so that references to it were seen and cleared.
    private func isDeletedHere(_ name: String, _ foreignKey: ForeignKey) throws -> Bool {
        guard let parent = mapping.catalog[foreignKey.parent],
            let key = RowKey(recordName: name, parent)
        else { return false }
        return try OutboxEntry.fetch(database, key)?.isDeleted == true
    }
}
