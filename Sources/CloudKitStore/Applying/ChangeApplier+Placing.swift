import Foundation
import GRDB

extension ChangeApplier {
    /// Writes rows, parents and children of one batch in any order; rows without their parents wait.
    mutating func place(_ candidates: [Candidate]) throws {
        guard !candidates.isEmpty else { return }
        try deferForeignKeys()
        var batch = Dictionary(candidates.map { ($0.known.name, $0) }) { _, last in last }
        try addWaiting(to: &batch)
        var order = batch.map { (catalog.rank($0.value.table.name), $0.key, $0.value) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map(\.2)
        // A waiting row makes the rows that need it wait too.
        var hasChanged = order.contains { !$0.table.foreignKeys.isEmpty }
        while hasChanged {
            hasChanged = false
            let names = Set(order.map(\.known.name))
            var placeable: [Candidate] = []
            for candidate in order {
                if let name = try missingParent(of: candidate, names) {
                    try hold(candidate, for: name)
                    hasChanged = true
                } else {
                    placeable.append(candidate)
                }
            }
            order = placeable
        }
        var absent: Set<String> = []
        var written: [Candidate] = []
        lazy var names = Set(order.map(\.known.name))
        for candidate in order {
            if !absent.isEmpty,
                let name = try missingParent(of: candidate, names.subtracting(absent))
            {
                try hold(candidate, for: name)
                absent.insert(candidate.known.name)
            } else if try write(candidate) {
                written.append(candidate)
            } else {
                absent.insert(candidate.known.name)
            }
            absent.formUnion(displaced)
        }
        guard !absent.isEmpty else { return }
        while let index = try written.firstIndex(where: { try missingParent(of: $0, []) != nil }) {
            try takeOut(written.remove(at: index))
        }
    }

    /// Removes a row again whose parent could not be written.
    private mutating func takeOut(_ candidate: Candidate) throws {
        let name = try missingParent(of: candidate, [])
        try hold(candidate, for: name ?? "")
        guard let existing = candidate.existing else {
            try rows.delete(candidate.key, candidate.table)
            return forget(candidate.key)
        }
        _ = try rows.write(
            mapping.fields(existing, candidate.table),
            candidate.key,
            candidate.table,
            over: rows.row(candidate.key, candidate.table),
            files: [:]
        )
    }

    /// Adds the rows that wait for rows of the batch, recursively.
    private func addWaiting(to batch: inout [String: Candidate]) throws {
        let any = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_record WHERE waiting IS NOT NULL)"
        )
        guard try Bool.fetchOne(any) ?? true else { return }
        let statement = try database.cachedStatement(
            sql: "SELECT name FROM grdb_cloudkit_record WHERE waiting = ?"
        )
        var next = batch.keys.sorted()
        while let name = next.popLast() {
            let found = try DatabaseValue.fetchAll(statement, arguments: [name])
            for waiting in found.map(StoredName.text) where batch[waiting] == nil {
                guard let candidate = try candidate(waiting) else { continue }
                batch[waiting] = candidate
                next.append(waiting)
            }
        }
    }

    /// Returns a record that waited, with its current fields; nil if these are unknown.
    func candidate(_ name: String) throws -> Candidate? {
        guard var known = try KnownRecord.fetch(database, name: name), let key = known.key,
            let table = catalog[key.table], !known.goes, !known.isUnread
        else { return nil }
        known.waiting = nil
        known.problem = nil
        let existing = try rows.row(key, table)
        let entry = try OutboxEntry.fetch(database, key)
        if existing == nil, entry?.isDeleted == true { return nil }
        let base = try known.baseFields(
            like: try existing.map { try mapping.fields($0, table) } ?? [:]
        )
        let edited = entry?.changed ?? [:]
        return Candidate(
            known: known,
            table: table,
            key: key,
            existing: existing,
            fields: base.known.filter { table.byField[$0.key] != nil && edited[$0.key] == nil }
        )
    }

    private func hold(_ candidate: Candidate, for name: String) throws {
        var known = try postponed(candidate)
        known.waiting = name
        try known.save(database)
    }

    /// Returns the record of a row that cannot be written now; fields that the server cleared are
    /// cleared once it is written.
    private func postponed(_ candidate: Candidate) throws -> KnownRecord {
        var known = candidate.known
        guard candidate.existing != nil else { return known }
        let base = try known.baseFields()
        let cleared = candidate.fields.filter { $0.value.isNull && base[$0.key] == nil }
        if !cleared.isEmpty {
            let words = try Words.current(database)
            known.base = KnownFields(stored: try known.base.data(setting: cleared, words), words)
        }
        return known
    }

    /// Returns the record name of a row that a candidate needs and that is neither here nor in the batch.
    func missingParent(of candidate: Candidate, _ batch: Set<String>) throws -> String? {
        for foreignKey in candidate.table.foreignKeys {
            guard let name = try missingParent(of: candidate, by: foreignKey) else { continue }
            if name.isEmpty || !batch.contains(name) { return name }
        }
        return nil
    }

    /// Returns the foreign keys of a candidate whose rows are not here, with their record names.
    func missingParents(
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
            try !isThere(values, foreignKey, parent)
        else { return nil }
        return try key(values, foreignKey, parent)?.recordName(parent) ?? ""
    }

    /// Returns the values of a foreign key's columns; nil when one is NULL, which refers to nothing.
    private func values(
        of foreignKey: ForeignKey,
        _ candidate: Candidate
    ) throws -> [DatabaseValue]? {
        var values: [DatabaseValue] = []
        for name in foreignKey.columns {
            guard let column = candidate.table.column(name) else { return nil }
            let value: DatabaseValue
            if let field = candidate.fields[column.field] {
                value = (try? mapping.databaseValue(field, column)) ?? .null
            } else {
                value = candidate.existing?[name] ?? .null
            }
            if value.isNull { return nil }
            values.append(value)
        }
        return values
    }

    private func isThere(
        _ values: [DatabaseValue],
        _ foreignKey: ForeignKey,
        _ parent: TableSchema
    ) throws -> Bool {
        let condition = zip(foreignKey.parentColumns, values).map { "\($0.quoted) = \($1.mark)" }
            .joined(separator: " AND ")
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM \(parent.name.quoted) WHERE \(condition)"
        )
        let arguments = StatementArguments(values: values.map(\.bound))
        return try Row.fetchOne(statement, arguments: arguments) != nil
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

    /// Writes a row, or quarantines its record with the reason.
    ///
    /// - Returns: Whether the row exists.
    private mutating func write(_ candidate: Candidate) throws -> Bool {
        var known = candidate.known
        do {
            try insert(candidate, &known)
        } catch let error as UnmappableValue {
            known.problem = "The record '\(known.name)': \(error)"
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            let isUnique = error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE
            switch isUnique ? try decideUniqueness(candidate) : false {
            case nil: return false
            case true?:
                // The conflicting row was removed.
                try insert(candidate, &known)
            default:
                known.problem =
                    "The record '\(known.name)' violates a constraint of the table '\(candidate.table.name)"
                    + "': \(error.message ?? "\(error.extendedResultCode)"); change the "
                    + "conflicting row"
            }
        }
        if known.problem != nil {
            known.base = try postponed(candidate).base
            try known.save(database)
            return false
        }
        try save(known, of: candidate)
        written.append(candidate.key)
        return true
    }

    /// Saves the record of a written row.
    private func save(_ known: KnownRecord, of candidate: Candidate) throws {
        if candidate.insertion != nil, known.waiting == nil, let inserted = candidate.inserted {
            return try known.save(database, base: inserted.base, inserted.words)
        }
        var row = try candidate.existing.map { try mapping.fields($0, candidate.table) } ?? [:]
        row.merge(candidate.fields) { $1 }
        try known.save(database, row: row, candidate.table)
    }

    private mutating func insert(_ candidate: Candidate, _ known: inout KnownRecord) throws {
        let kind: RowChange.Kind?
        if let insertion = candidate.insertion {
            try rows.insert(insertion, candidate.table)
            kind = .inserted
        } else {
            kind = try rows.write(
                candidate.fields,
                candidate.key,
                candidate.table,
                over: candidate.existing,
                files: candidate.files
            )
        }
        if let kind { note(kind, candidate.key) }
        known.lacks = try lacksAssets(candidate)
    }

    /// Returns whether assets of the row did not arrive with it, because it had to wait.
    private func lacksAssets(_ candidate: Candidate) throws -> Bool {
        for column in candidate.table.assetColumns where column.download == .withRow {
            guard case .asset? = candidate.fields[column.field]?.plain,
                candidate.files[column.field] == nil
            else { continue }
            let row = try rows.row(candidate.key, candidate.table)
            if row?[column.name]?.isNull == true { return true }
        }
        return false
    }

    // MARK: At the end of a fetch

    /// Retries waiting and quarantined records, after everything has arrived.
    ///
    /// A row whose parent did not arrive keeps waiting, unless its columns may be NULL: then it
    /// shows without the reference until the parent arrives.
    mutating func retryHidden() throws {
        try retryQuarantined()
        try resolveReferences()
        // Each condition has an index; an index would not be used for both.
        let hidden = try ["problem IS NOT NULL", "waiting IS NOT NULL AND problem IS NULL"]
            .flatMap { try KnownRecord.fetchAll(database, where: $0 + " AND tbl IS NOT NULL") }
        try place(try (hidden.map(\.name) + topsToJoin()).compactMap(candidate))
        try showWaiting()
    }

    /// Shows the waiting rows, without their references to missing rows.
    ///
    /// A row that shows may be the target of another, in any order of names, so the rows are
    /// checked again until no more can show.
    mutating func showWaiting() throws {
        var shown: Set<String> = []
        var count = -1
        while count < shown.count {
            count = shown.count
            let waiting = try KnownRecord.fetchAll(database, where: "waiting IS NOT NULL")
                .sorted {
                    (catalog.rank($0.key?.table ?? ""), $0.name)
                        < (catalog.rank($1.key?.table ?? ""), $1.name)
                }
            for known in waiting {
                guard let candidate = try candidate(known.name), try show(candidate) else {
                    continue
                }
                if candidate.existing == nil { shown.insert(known.name) }
            }
        }
        try settleTrees()
    }

    /// Writes a row without its references to missing rows, if it can exist without them.
    ///
    /// - Returns: Whether the row shows.
    mutating func show(_ candidate: Candidate) throws -> Bool {
        let missing = try missingParents(of: candidate)
        let columns = missing.map { missing in
            missing.foreignKey.columns.compactMap(candidate.table.column).filter { !$0.isNotNull }
        }
        if let place = columns.firstIndex(where: { $0.allSatisfy(\.isKey) }) {
            try hide(candidate, waitingFor: missing[place].name)
            return false
        }
        for column in columns.joined() { candidate.fields[column.field] = .null }
        // The row above the root of a share stays with its owner.
        let isTop =
            try candidate.known.zone != .own
            && Place.fetch(database, candidate.key)?.share != nil
        candidate.known.waiting = isTop ? nil : missing.first?.name
        return try write(candidate)
    }

    /// Returns the roots of others' shares whose row above stayed with its owner, and has now arrived.
    ///
    /// The root's record does not change when the row above it is shared too, so it does not arrive again.
    private func topsToJoin() throws -> [String] {
        guard hasPlaces else { return [] }
        return try Place.namesOfOthersTops(database).filter { name in
            guard let candidate = try candidate(name), let row = candidate.existing else {
                return false
            }
            let shown = try mapping.fields(row, candidate.table)
            return try candidate.table.foreignKeys.contains { foreignKey in
                let isEmpty = foreignKey.columns.contains { column in
                    candidate.table.column(column).map { shown[$0.field]?.isNull ?? false } ?? false
                }
                guard isEmpty, let parent = catalog[foreignKey.parent],
                    let values = try values(of: foreignKey, candidate)
                else { return false }
                return try isThere(values, foreignKey, parent)
            }
        }
    }
}
