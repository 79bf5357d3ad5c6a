import CloudKit
import Foundation
import GRDB

extension ChangeApplier {
    /// Decides between a new row and those here that have the same values in columns that are UNIQUE
    /// besides the key.
    ///
    /// Every device decides alike: the record that the server had first stays. The other goes into
    /// the journal and is deleted everywhere, and what refers to it refers to the winner from then
    /// on. A row that the server never had, or has no more, always gives way.
    ///
    /// - Returns: Whether the new row can be written now; nil when it lost and is gone.
    mutating func decideUniqueness(_ candidate: Candidate) throws -> Bool? {
        // The deletion of what stands in the way may be yet to come.
        guard candidate.existing == nil, !defersUniqueness,
            candidate.table.declaration.uniqueness == .firstStays
        else { return false }
        let rivals = try rivals(of: candidate)
        guard !rivals.isEmpty else { return false }
        let ours = try order(of: candidate.known)
        for (key, row) in rivals {
            guard try Place.fetch(database, key)?.writes != false else { return false }
            let record = try KnownRecord.fetch(database, name: key.recordName(candidate.table))
            let theirs = try order(of: record)
            if ours < theirs {
                try giveWay(key, row, to: candidate)
            } else {
                try giveUp(candidate, to: key)
                return nil
            }
        }
        return true
    }

    /// Puts rows into the places of those that are deleted now, whose UNIQUE values they waited for:
    /// what refers to those refers to them from then on.
    mutating func replace(_ records: [KnownRecord]) throws {
        let waiting = try KnownRecord.fetchAll(
            database,
            where: "problem IS NOT NULL AND tbl IS NOT NULL"
        )
        guard !waiting.isEmpty else { return }
        try deferForeignKeys()
        for record in records {
            guard let key = record.key, let table = catalog[key.table] else { continue }
            for known in waiting where known.key?.table == key.table {
                guard let row = try rows.row(key, table),
                    let candidate = try candidate(known.name), candidate.existing == nil,
                    try missingParent(of: candidate, []) == nil,
                    try rivals(of: candidate).map(\.key) == [key]
                else { continue }
                try giveWay(key, row, to: candidate)
                try place([candidate])
            }
        }
    }

    /// When the server had a record first, and its name where two came at once.
    private func order(of known: KnownRecord?) throws -> Order {
        guard let known, !known.goes, let record = known.archived() else {
            return Order(date: .distantFuture, name: known?.name ?? "")
        }
        return Order(date: record.creationDate ?? .distantPast, name: known.name)
    }

    private struct Order: Comparable {
        var date: Date
        var name: String

        static func < (first: Self, second: Self) -> Bool {
            (first.date, first.name) < (second.date, second.name)
        }
    }

    /// The rows that stand in a row's way.
    private func rivals(of candidate: Candidate) throws -> [(key: RowKey, row: StoredRow)] {
        let table = candidate.table
        var rivals: [(key: RowKey, row: StoredRow)] = []
        for columns in try rows.uniqueColumns(table) {
            var values: [DatabaseValue] = []
            for column in columns {
                guard let field = candidate.fields[column.field], !field.isNull else { break }
                values.append(try mapping.databaseValue(field, column))
            }
            guard values.count == columns.count else { continue }
            for row in try rows.rows(table, where: columns.map(\.name), are: values) {
                guard let key = RowStore.key(row, table), key != candidate.key,
                    !rivals.contains(where: { $0.key == key })
                else { continue }
                rivals.append((key, row))
            }
        }
        return rivals
    }

    /// Removes a row here and on the server, for one that has its values.
    private mutating func giveWay(_ key: RowKey, _ row: StoredRow, to winner: Candidate) throws {
        let table = winner.table
        let entry = try OutboxEntry.fetch(database, key)
        let lost = MergePlan.Overruled(
            fields: try mapping.fields(row, table),
            side: .local,
            rule: "unique"
        )
        try journal.add([lost], key, kept: winner.fields, at: clock.edit(entry?.version ?? 0))
        try redirect(from: row, to: winner.key, table)
        // The deletion is this device's own edit, for the server to hear of.
        try database.execute(sql: "UPDATE grdb_cloudkit_control SET applying = 0")
        try rows.delete(key, table)
        try database.execute(sql: "UPDATE grdb_cloudkit_control SET applying = 1")
        note(.deleted, key)
        displaced.insert(try key.recordName(table))
        gaveWay.append(key)
    }

    /// Deletes a record on the server whose row another's values keep from being one.
    private mutating func giveUp(_ candidate: Candidate, to winner: RowKey) throws {
        let lost = MergePlan.Overruled(fields: candidate.fields, side: .remote, rule: "unique")
        let kept = try rows.row(winner, candidate.table)
            .map { try mapping.fields($0, candidate.table) }
        try journal.add([lost], candidate.key, kept: kept, at: clock.edit(0))
        gaveWay.append(candidate.key)
        var known = candidate.known
        known.waiting = nil
        known.problem = nil
        try known.save(database)
        let now = try StoreClock.tick(database)
        try OutboxEntry(key: candidate.key, isDeleted: true, changed: [:], version: now)
            .save(database)
    }

    /// Lets what refers to one row refer to another, as this device's own edit.
    private func redirect(from row: StoredRow, to winner: RowKey, _ table: TableSchema) throws {
        guard let values = winner.values(table) else { return }
        let target = Dictionary(uniqueKeysWithValues: zip(table.keyColumns.map(\.name), values))
        try database.execute(sql: "UPDATE grdb_cloudkit_control SET applying = 0")
        defer { try? database.execute(sql: "UPDATE grdb_cloudkit_control SET applying = 1") }
        for (name, foreignKey) in catalog.foreignKeys(to: table.name) {
            let parts = foreignKey.parentColumns.compactMap { target[$0] }
            guard parts.count == foreignKey.columns.count else { continue }
            let set = foreignKey.columns.map { "\($0.quoted) = ?" }
            let old = foreignKey.parentColumns.map { row[$0] ?? .null }
            let condition = zip(foreignKey.columns, old).map { "\($0.quoted) = \($1.mark)" }
            try database.execute(
                sql: "UPDATE \(name.quoted) SET \(set.joined(separator: ", ")) "
                    + "WHERE \(condition.joined(separator: " AND "))",
                arguments: StatementArguments(values: parts + old.map(\.bound))
            )
        }
    }
}
