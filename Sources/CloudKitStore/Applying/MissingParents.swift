import GRDB

/// The search for the rows that a candidate's foreign keys refer to and that are not here; ``RowPlacer``
/// lets the candidate wait for them.
struct MissingParents: ApplyPhase {
    let context: ApplyContext

    /// Returns the record name of a row that a candidate needs and that is neither here nor in a
    /// batch, of which the zones are given by name.
    func first(of candidate: Candidate, besides batch: [String: StoreZone] = [:]) throws -> String?
    {
        for foreignKey in candidate.table.foreignKeys {
            guard let name = try missingParent(of: candidate, by: foreignKey) else { continue }
            // A row of another zone is another one, and one without a name is in no batch.
            if name.isEmpty || batch[name] != candidate.known.zone { return name }
        }
        return nil
    }

    /// Returns the foreign keys of a candidate whose rows are not here, with their record names.
    func all(
        of candidate: Candidate
    ) throws -> [(foreignKey: ForeignKey, name: String)] {
        try candidate.table.foreignKeys.compactMap { foreignKey in
            try missingParent(of: candidate, by: foreignKey).map { (foreignKey, $0) }
        }
    }

    /// Returns the record name of the missing row that a candidate's foreign key refers to; empty
    /// if unknown.
    private func missingParent(
        of candidate: Candidate,
        by foreignKey: ForeignKey
    ) throws -> String? {
        guard let parent = catalog[foreignKey.parent],
            let values = try values(of: foreignKey, candidate),
            try !isThere(values, foreignKey, parent, in: candidate.known.zone)
        else { return nil }
        return try key(values, foreignKey, parent)?.recordName(parent) ?? ""
    }

    /// Returns the values of a foreign key's columns; nil when one is NULL, which refers to nothing.
    func values(
        of foreignKey: ForeignKey,
        _ candidate: Candidate
    ) throws -> [DatabaseValue]? {
        var values: [DatabaseValue] = []
        for name in foreignKey.columns {
            guard let column = candidate.table.column(name) else { return nil }
            let value: DatabaseValue
            // The record decides even where it clears the column.
            if let field = candidate.fields[column.field] {
                // A value that the column cannot hold refers to no row.
                value = (try? mapping.databaseValue(field, column)) ?? .null
            } else {
                value = candidate.existing?[name] ?? .null
            }
            if value.isNull { return nil }
            values.append(value)
        }
        return values
    }

    /// Returns whether a row is here with some values, in a zone: another zone's may have the same key.
    func isThere(
        _ values: [DatabaseValue],
        _ foreignKey: ForeignKey,
        _ parent: TableSchema,
        in zone: StoreZone
    ) throws -> Bool {
        var conditions = zip(foreignKey.parentColumns, values).map { "\($0.quoted) = \($1.mark)" }
        var arguments = values.map(\.bound)
        if context.hasPlaces, !parent.isPublic {
            // A row without a place is in the user's own zone, of which the text is empty.
            conditions.append(
                """
                coalesce((SELECT zone FROM grdb_cloudkit_place WHERE tbl = \(parent.name.literal)
                    AND key = \(RowKey.sql(parent, of: parent.name.quoted))), '') = ?
                """
            )
            arguments.append(zone.databaseValue)
        }
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM \(parent.name.quoted) WHERE "
                + conditions.joined(separator: " AND ")
        )
        return try Row.fetchOne(statement, arguments: StatementArguments(values: arguments)) != nil
    }

    /// Returns the parent's key, if the foreign key contains it.
    private func key(
        _ values: [DatabaseValue],
        _ foreignKey: ForeignKey,
        _ parent: TableSchema
    ) -> RowKey? {
        var row: [String: DatabaseValue] = [:]
        for (column, value) in zip(foreignKey.parentColumns, values) { row[column] = value }
        guard parent.keyColumns.allSatisfy({ row[$0.name] != nil }) else { return nil }
        return RowKey(values: parent.keyColumns.compactMap { row[$0.name] }, parent)
    }
}
