import CloudKit
import GRDB

/// The way of rows that wait for a row which gave way to another with its UNIQUE values: they refer to the one that stays,
/// as this device's own edit.
///
/// Devices that had the row delete it with all rows below it, unless these have left it before.
struct DuplicateReplacer: ApplyPhase {
    let context: ApplyContext

    private var parents: MissingParents { MissingParents(context: context) }

    /// Writes the rows that wait for the rows which gave way since the last call.
    func replace() throws {
        while let (loser, winner) = context.replaced.popLast() {
            try replace(loser, by: winner)
        }
    }

    private func replace(_ loser: Candidate, by winner: RowKey) throws {
        let waiting = try KnownRecord.fetchAll(
            database,
            where: "waiting = ? AND zone = ?",
            arguments: [loser.known.name, loser.known.zone]
        )
        guard !waiting.isEmpty, let row = try rows.row(winner, loser.table) else { return }
        for known in waiting {
            guard let candidate = try candidate(known.name),
                // A row that the user may not change cannot refer to another.
                try Place.fetch(database, candidate.key)?.writes != false
            else { continue }
            try redirect(candidate, from: loser, to: row)
        }
    }

    private func redirect(
        _ candidate: Candidate,
        from loser: Candidate,
        to row: StoredRow
    ) throws {
        let table = candidate.table
        var edited: Set<String> = []
        for foreignKey in table.foreignKeys where foreignKey.parent == loser.table.name {
            guard let values = try parents.values(of: foreignKey, candidate),
                try values == foreignKey.parentColumns.map({ try value(of: $0, loser) })
            else { continue }
            for (name, parentName) in zip(foreignKey.columns, foreignKey.parentColumns) {
                guard let column = table.column(name), let value = row[parentName] else { continue }
                candidate.fields[column.field] = try mapping.value(value, column)
                edited.insert(name)
            }
        }
        guard !edited.isEmpty else { return }
        if table.keyColumns.contains(where: { edited.contains($0.name) }) {
            return try replaceKey(of: candidate)
        }
        try RowPlacer(context: context).place([candidate])
        // Not when it waits for yet another row.
        guard try rows.row(candidate.key, table) != nil else { return }
        let fields = edited.map { table.column($0)?.field ?? $0 }
        try OutboxEntry.noteEdit(of: candidate.key, fields, database)
    }

    /// Inserts a row under the key that it has with the row that stays, and deletes its record: a row with another key is
    /// another record.
    private func replaceKey(of candidate: Candidate) throws {
        let table = candidate.table
        let values = try table.keyColumns.map { column in
            try candidate.fields[column.field].map { try mapping.databaseValue($0, column) }
                ?? value(of: column.name, candidate)
        }
        guard let key = RowKey(values: values, table) else { return }
        if try rows.row(key, table) == nil {
            let moved = Candidate(
                known: candidate.known,
                table: table,
                key: key,
                existing: nil,
                fields: candidate.fields
            )
            guard try parents.all(of: moved).isEmpty, try insert(moved) else { return }
        }
        if candidate.existing != nil { try rows.delete(candidate.key, table) }
        try UniquenessJudge(context: context).replace(candidate, by: key)
    }

    /// Inserts a row as this device's own; returns whether that was possible.
    private func insert(_ candidate: Candidate) throws -> Bool {
        try ControlTables.asEdit(database) {
            do {
                if let kind = try rows.write(candidate) { context.note(kind, candidate.key) }
                return true
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                return false
            } catch is UnmappableValue {
                return false
            }
        }
    }

    /// Returns the value of a column of a row that does not show.
    private func value(of name: String, _ candidate: Candidate) throws -> DatabaseValue {
        let table = candidate.table
        if let place = table.keyColumns.firstIndex(where: { $0.name == name }),
            let values = candidate.key.values(table)
        {
            return values[place]
        }
        guard let column = table.column(name), let field = candidate.fields[column.field] else {
            return .null
        }
        return try mapping.databaseValue(field, column)
    }
}
