import CloudKit
import Foundation
import GRDB

/// The decision between rows that have the same values in UNIQUE columns.
struct UniquenessJudge: ApplyPhase {
    let context: ApplyContext

    /// Decides between a row and existing rows that have the same values in UNIQUE columns other
    /// than the key.
    ///
    /// Every device decides the same way: the record that reached the server first stays. The other
    /// is kept in the journal and deleted everywhere, and references to it are redirected to the
    /// winner. A row that the server never had, or no longer has, always loses. Rows of two users
    /// are never deleted for each other: one of them waits, also where it showed before it got the
    /// values.
    ///
    /// - Returns: Whether the row can be written now; nil when it lost and was deleted.
    func decide(_ candidate: Candidate) throws -> Bool? {
        // The deletion of the conflicting row may arrive later.
        guard !context.defersUniqueness else { return false }
        let rivals = try rivals(of: candidate)
        guard !rivals.isEmpty else { return false }
        let others = try rivals.filter { try !isOneUsers($0.key, candidate) }
        let decidesAlone =
            candidate.existing == nil && candidate.table.declaration.uniqueness == .firstWins
        guard others.isEmpty else {
            // Where a row of the same user would still have the values, nobody gives way for nothing.
            guard others.count == rivals.count || decidesAlone else { return false }
            return try hide(others, for: candidate)
        }
        guard decidesAlone else { return false }
        let ours = try order(of: candidate.known)
        for (key, row, _) in rivals {
            // A row that the user may not delete cannot give way.
            guard try Place.fetch(database, key)?.writes != false else { return false }
            let record = try KnownRecord.fetch(database, name: key.recordName(candidate.table))
            // The row may only lack the change by which its record freed the values.
            if let record, try isBehind(row, record, candidate.table) { return false }
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

    /// Returns whether a row and a record have one owner.
    func isOneUsers(_ key: RowKey, _ candidate: Candidate) throws -> Bool {
        try zone(of: key).owner == candidate.known.zone.owner
    }

    /// Hides a row that shows its previous values and has got UNIQUE values of another user's, if
    /// it is the one that waits: a device that has no row yet does not show it either.
    ///
    /// What the user writes into a row that does not follow its record would overwrite what nobody has
    /// seen here. Unsent edits, and those of the rows below, are sent first.
    ///
    /// - Returns: Whether the row is hidden.
    func yields(_ candidate: Candidate) throws -> Bool {
        let zone = candidate.known.zone
        guard zone.isShared, candidate.existing != nil, candidate.known.system != nil,
            try rivals(of: candidate).contains(where: { rival in
                try self.zone(of: rival.key) < zone && !isOneUsers(rival.key, candidate)
            }),
            try !hasUnsentEdits(candidate.key)
        else { return false }
        let theirs = try ApplyContext(database, mapping, zone: zone, defersUniqueness: true)
        try RowWithdrawer(context: theirs, rule: JournalEntry.unique)
            .hideWithAllBelow(candidate.key, named: candidate.known.name)
        context.add(theirs)
        context.hasHidden = true
        return true
    }

    /// Returns whether a row, or one below it, has changes that the server has not accepted.
    private func hasUnsentEdits(_ top: RowKey) throws -> Bool {
        var next = [top]
        var seen: Set<RowKey> = [top]
        while let key = next.popLast() {
            if try OutboxEntry.fetch(database, key) != nil { return true }
            next += try rows.keys(below: key).filter { seen.insert($0).inserted }
        }
        return false
    }

    func zone(of key: RowKey) throws -> StoreZone {
        try Place.fetch(database, key)?.zone ?? .own
    }

    /// Hides other users' rows that have a row's UNIQUE values, if they are those that wait.
    ///
    /// A UNIQUE rule holds in the rows of each user, so nobody gives up a row for another user's.
    /// All devices of a user decide alike, as for keys: the user's own row shows, and of two other
    /// users' rows that of the zone that is the first by name.
    ///
    /// - Returns: Whether all of them are hidden.
    private func hide(_ rivals: [Rival], for candidate: Candidate) throws -> Bool {
        var hiding: [(rival: Rival, zone: StoreZone, name: String)] = []
        for rival in rivals {
            let key = rival.key
            let zone = try zone(of: key)
            let name = try key.recordName(candidate.table)
            // Unsent edits of the row, and of those below it, are sent first: they would be lost with
            // it. Until then the others show as well.
            guard candidate.known.zone < zone, try !hasUnsentEdits(key),
                let known = try KnownRecord.fetch(database, name: name),
                known.zone == zone, known.system != nil
            else { return false }
            hiding.append((rival, zone, name))
        }
        for (rival, zone, name) in hiding {
            let theirs = try ApplyContext(database, mapping, zone: zone, defersUniqueness: true)
            try RowWithdrawer(context: theirs, rule: JournalEntry.unique)
                .hideWithAllBelow(rival.key, named: name)
            context.add(theirs)
            context.hasHidden = true
            guard var hidden = try KnownRecord.fetch(database, name: name) else { continue }
            hidden.problem = problem(
                of: hidden,
                candidate.table,
                having: rival.columns,
                of: candidate.key,
                in: candidate.known.zone
            )
            try hidden.save(database)
        }
        return true
    }

    /// Returns whether a row's UNIQUE values are older than its record's, which it could not get yet.
    private func isBehind(
        _ row: StoredRow,
        _ record: KnownRecord,
        _ table: TableSchema
    ) throws -> Bool {
        guard let key = record.key, record.system != nil, record.zone == zone else { return false }
        let names = try rows.uniqueNames(table)
        let fields = try mapping.fields(row, table)
        let edited = try OutboxEntry.fetch(database, key)?.changed ?? [:]
        let base = try record.baseFields(like: fields)
        return table.columns.contains { column in
            guard names.contains(column.name), !column.isKey, edited[column.field] == nil,
                let value = base[column.field]
            else { return false }
            return value != fields[column.field]
        }
    }

    /// Returns the order of a record: the time at which it reached the server, then its name.
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

    /// Returns the rows that conflict with a row.
    ///
    /// - Parameters:
    ///   - candidate: The row.
    ///   - rules: The columns of each UNIQUE rule of its table, if the caller has them.
    /// - Returns: The other rows.
    /// - Throws: An error of the database.
    func rivals(
        of candidate: Candidate,
        _ rules: [[TableColumn]]? = nil
    ) throws -> [Rival] {
        let table = candidate.table
        var rivals: [Rival] = []
        for columns in try rules ?? rows.uniqueColumns(table) {
            var values: [DatabaseValue] = []
            for column in columns {
                // NULL is equal to nothing, so it violates no UNIQUE rule.
                let value = try value(of: column, candidate)
                guard !value.isNull else { break }
                values.append(value)
            }
            guard values.count == columns.count else { continue }
            for row in try rows.rows(table, where: columns.map(\.name), are: values) {
                guard let key = RowStore.key(row, table), key != candidate.key,
                    !rivals.contains(where: { $0.key == key })
                else { continue }
                rivals.append((key, row, columns))
            }
        }
        return rivals
    }

    /// Returns the value that a column of a row will have.
    private func value(of column: TableColumn, _ candidate: Candidate) throws -> DatabaseValue {
        let before = candidate.existing?[column.name] ?? .null
        guard let field = candidate.fields[column.field] else { return before }
        guard field.isNull, column.isNotNull else {
            // A value that the column cannot hold is refused when it is written.
            return (try? mapping.databaseValue(field, column)) ?? .null
        }
        return column.standard ?? before
    }

    /// Removes a row here and on the server in favor of one that has its values.
    func giveWay(_ key: RowKey, _ row: StoredRow, to winner: Candidate) throws {
        let table = winner.table
        let entry = try OutboxEntry.fetch(database, key)
        let lost = MergePlan.Overruled(
            fields: try mapping.fields(row, table),
            side: .local,
            rule: JournalEntry.unique
        )
        try journal.add([lost], key, kept: winner.fields, at: clock.edit(entry?.version ?? 0))
        try redirect(from: row, to: winner.key, table)
        // The deletion is this device's own edit, to be sent to the server.
        try ControlTables.asEdit(database) { try rows.delete(key, table) }
        context.note(.deleted, key)
        context.displaced.insert(try key.recordName(table))
        context.replacedByDuplicate.append(key)
    }

    /// Deletes a record on the server whose row cannot be inserted because another has its values.
    private func giveUp(_ candidate: Candidate, to winner: RowKey) throws {
        let lost = MergePlan.Overruled(
            fields: candidate.fields,
            side: .remote,
            rule: JournalEntry.unique
        )
        let kept = try rows.row(winner, candidate.table)
            .map { try mapping.fields($0, candidate.table) }
        try journal.add([lost], candidate.key, kept: kept, at: clock.edit(0))
        context.replacedByDuplicate.append(candidate.key)
        try replace(candidate, by: winner)
    }

    /// Has a record deleted on the server, and the rows that wait for its row refer to another.
    func replace(_ candidate: Candidate, by winner: RowKey) throws {
        var known = candidate.known
        known.waiting = nil
        known.problem = nil
        // Kept although it has no row: its deletion is sent with its tag.
        try known.save(database)
        try OutboxEntry.noteDeletion(of: candidate.key, database)
        context.replaced.append((candidate, winner))
    }

    /// Redirects references from one row to another, as this device's own edit.
    private func redirect(from row: StoredRow, to winner: RowKey, _ table: TableSchema) throws {
        guard let values = winner.values(table) else { return }
        let target = Dictionary(uniqueKeysWithValues: zip(table.keyColumns.map(\.name), values))
        try ControlTables.asEdit(database) {
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
}
