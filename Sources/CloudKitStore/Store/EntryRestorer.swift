import GRDB

/// The return of an entry of the journal as an ordinary edit, or the reason why that cannot be.
struct EntryRestorer {
    private let entry: JournalEntry
    private let table: TableSchema
    private let rows: RowStore
    private let key: RowKey

    init(_ entry: JournalEntry, _ table: TableSchema, _ rows: RowStore) {
        self.entry = entry
        self.table = table
        self.rows = rows
        key = RowKey(table: entry.table, text: entry.key)
    }

    /// Writes the values into the row, inserts it, or deletes it.
    ///
    /// - Throws: A ``CloudStoreError`` that says why the entry cannot be restored, and what to do; an error
    ///   of the database.
    func restore() throws {
        guard !isDeletion || entry.key == entry.recordedKey else { throw deletionHasNoValues }
        guard try !isOfAnother() else { throw belongsToAnother }
        guard !isDeletion else { return try delete() }
        let fields = entry.lost.filter { table.byField[$0.key]?.form != .asset }
        let existing = try rows.row(key, table)
        if existing == nil, !missingColumns.isEmpty { throw lacksValues }
        guard try existing != nil || !isOfWaiting() else { throw belongsToAnother }
        try checkReferences(of: fields, over: existing)
        do {
            _ = try rows.write(fields, key, table, over: existing, files: [:])
        } catch let error as DatabaseError
            where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE
        {
            throw try valueIsTaken(fields, existing) ?? error
        }
    }

    private func delete() throws {
        // SQLite names neither the row nor the column that it checks at the end of the transaction.
        if let row = try rows.row(key, table), let error = try stillReferred(row) { throw error }
        try rows.delete(key, table)
    }

    private var isDeletion: Bool { entry.lost.isEmpty }

    // MARK: Whose row it is

    /// Returns whether the key of an entry's row may belong to another row now.
    ///
    /// Where the row is not here, that is the other user's row that left this user's sight: it may come
    /// back, and one of the user's own with its key would keep it out. Where the zone is not known, it
    /// is one of the user's own, or another user's while a third one's waits.
    private func isOfAnother() throws -> Bool {
        guard !table.isPublic else { return false }
        let database = rows.database
        // A row that lost its reference to a deleted one may have left the shared tree with it.
        let isOfAnothers =
            entry.rule == JournalEntry.access
            || (entry.rule == JournalEntry.reference && entry.zone?.isShared == true)
        guard try rows.row(key, table) != nil else {
            return isOfAnothers && entry.key == entry.recordedKey
        }
        let current = try Place.fetch(database, key)?.zone ?? .own
        if let zone = entry.zone {
            // A row that this user took out of another's tree is still the same.
            return current != zone && (current.isShared || isOfAnothers)
        }
        guard isOfAnothers else { return false }
        guard current.isShared else { return true }
        // A key that is too long for a record name has no record.
        guard let name = try? key.recordName(table) else { return false }
        return try TakenKeys.quarantined(database).contains { $0.recordName == name }
    }

    /// Returns whether another user's record with the key waits: a row with it would be taken for that one.
    private func isOfWaiting() throws -> Bool {
        // A key that is too long for a record name has no record.
        guard !table.isPublic, try Place.exist(rows.database),
            let name = try? key.recordName(table),
            let known = try KnownRecord.fetch(rows.database, name: name)
        else { return false }
        return known.zone.isShared && known.system != nil
            && (known.problem != nil || known.waiting != nil)
    }

    private var belongsToAnother: CloudStoreError {
        // The entry holds only what the edit had changed.
        let remedy =
            if isDeletion {
                "restore the entry once the row is back, or delete the row that is meant"
            } else if missingColumns.isEmpty {
                "set the entry's key to one that no row has to restore the values as a row of its own, or "
                    + "update the row that is meant"
            } else {
                "insert a row of its own with the entry's values under another key, and with values for "
                    + "\(Self.list(missingColumns)), which the entry does not have, or update the row that "
                    + "is meant"
            }
        return CloudStoreError(
            .noSuchRow,
            "The entry is of a row that another user shares, and its key '\(entry.key)' may belong to "
                + "another row of the table '\(entry.table)' now, or to that one again; \(remedy)"
        )
    }

    // MARK: What a row needs

    /// The columns for which a new row needs values that the entry does not have.
    private var missingColumns: [TableColumn] {
        table.columns.filter { column in
            !column.isKey && column.needsValue && entry.lost[column.field]?.isNull ?? true
        }
    }

    private var deletionHasNoValues: CloudStoreError {
        CloudStoreError(
            .noSuchRow,
            "The entry is of the deletion of the row '\(entry.recordedKey)' of the table '\(entry.table)', "
                + "which has no values for a row with another key; restore it under that key once the row is "
                + "back, or insert a row with the values in the entry's `kept`"
        )
    }

    private var lacksValues: CloudStoreError {
        CloudStoreError(
            .noSuchRow,
            "The table '\(entry.table)' has no row '\(entry.key)', and a new one needs values for "
                + "\(Self.list(missingColumns)), which the entry does not have: it holds only what the edit "
                + "had changed; add them to the entry's `lost`, or insert a row with its values and these"
        )
    }

    private static func list(_ columns: [TableColumn]) -> String {
        columns.map { "'\($0.name)'" }.joined(separator: ", ")
    }

    // MARK: Other rows

    /// Returns which row has the UNIQUE values; nil for a rule whose columns are not known, such as one of an
    /// expression.
    private func valueIsTaken(
        _ fields: [String: StoreValue],
        _ existing: StoredRow?
    ) throws -> CloudStoreError? {
        let context = try ApplyContext(
            rows.database,
            rows.mapping,
            zone: .own,
            defersUniqueness: true
        )
        let candidate = Candidate(
            known: KnownRecord(name: "", key: key, type: table.recordType),
            table: table,
            key: key,
            existing: existing,
            fields: fields
        )
        guard let rival = try UniquenessJudge(context: context).rivals(of: candidate).first
        else { return nil }
        let names = rival.columns.map { "lost[\"\($0.field)\"]" }.joined(separator: " and ")
        return CloudStoreError(
            .valueTaken,
            "The row '\(entry.key)' of the table '\(entry.table)' would get the UNIQUE value of "
                + "\(Self.list(rival.columns)) that the row '\(rival.key.text)' has; give that row another "
                + "value, or set the entry's \(names) to one that no row has"
        )
    }

    /// Returns which row blocks the deletion of a row by a reference without an action; nil when none does.
    private func stillReferred(_ row: StoredRow) throws -> CloudStoreError? {
        var going: Set<RowKey> = [key]
        var next = [(table, row)]
        var blocking: [(child: TableSchema, key: RowKey, columns: [String], target: TableSchema)] =
            []
        while let (table, row) = next.popLast() {
            for (name, foreignKey) in rows.mapping.catalog.foreignKeys(to: table.name) {
                guard let child = rows.mapping.catalog[name] else { continue }
                for childRow in try rows.rows(referring: foreignKey, child, row) {
                    guard let key = RowStore.key(childRow, child) else { continue }
                    switch foreignKey.deletion {
                    case .cascade:
                        if going.insert(key).inserted { next.append((child, childRow)) }
                    case .restrict, .noAction:
                        blocking.append((child, key, foreignKey.columns, table))
                    case .setNull, .setDefault: break
                    }
                }
            }
        }
        guard let found = blocking.first(where: { !going.contains($0.key) }) else { return nil }
        return CloudStoreError(
            .stillReferred,
            "The row '\(entry.key)' of the table '\(entry.table)' cannot be deleted: the row "
                + "'\(found.key.text)' of the table '\(found.child.name)' refers in "
                + found.columns.map { "'\($0)'" }.joined(separator: ", ")
                + (found.target.name == table.name ? " to it" : " to a row that goes with it")
                + ", and the schema has no action for that; delete that row first, or have it refer to "
                + "another one"
        )
    }

    // MARK: What the values refer to

    /// Refuses references to rows that are not here, of which SQLite names none.
    private func checkReferences(
        of fields: [String: StoreValue],
        over existing: StoredRow?
    ) throws {
        for foreignKey in table.foreignKeys {
            let columns = foreignKey.columns.compactMap(table.column)
            guard let parent = rows.mapping.catalog[foreignKey.parent],
                columns.count == foreignKey.columns.count,
                existing == nil || columns.contains(where: { fields[$0.field] != nil })
            else { continue }
            let values = try columns.map { try value(of: $0, fields, existing) }
            guard !values.contains(where: \.isNull),
                try !isItself(foreignKey, values),
                try rows.rows(parent, where: foreignKey.parentColumns, are: values).isEmpty
            else { continue }
            throw targetIsMissing(columns, parent, values)
        }
    }

    /// Returns whether a new row refers to itself.
    private func isItself(_ foreignKey: ForeignKey, _ values: [DatabaseValue]) throws -> Bool {
        foreignKey.parent == table.name
            && foreignKey.parentColumns == table.keyColumns.map(\.name)
            && values == key.values(table)
    }

    /// Returns the value that a column of the row will have.
    private func value(
        of column: TableColumn,
        _ fields: [String: StoreValue],
        _ existing: StoredRow?
    ) throws -> DatabaseValue {
        if let place = table.keyColumns.firstIndex(where: { $0.name == column.name }),
            let values = key.values(table)
        {
            return values[place]
        }
        guard let field = fields[column.field] else {
            return existing?[column.name] ?? column.standard ?? .null
        }
        guard field.isNull, column.isNotNull else {
            return try rows.mapping.databaseValue(field, column)
        }
        return column.standard ?? .null
    }

    private func targetIsMissing(
        _ columns: [TableColumn],
        _ parent: TableSchema,
        _ values: [DatabaseValue]
    ) -> CloudStoreError {
        let target = values.map { String.fromDatabaseValue($0) ?? "\($0)" }
            .joined(separator: ", ")
        let fields = columns.filter { !$0.isKey }
        var remedy = "insert or restore that row first"
        if fields.isEmpty {
            remedy += ", or set the entry's key to one of a row that is here"
        } else {
            let names = fields.map { "lost[\"\($0.field)\"]" }.joined(separator: " and ")
            let isNeeded = fields.contains(where: \.needsValue)
            remedy +=
                ", or set the entry's \(names) to \(isNeeded ? "" : ".null, or to ")a row that is here"
        }
        return CloudStoreError(
            .noSuchRow,
            "The row '\(entry.key)' of the table '\(entry.table)' would refer in \(Self.list(columns)) to "
                + "the row '\(target)' of the table '\(parent.name)', which is not here; \(remedy)"
        )
    }
}
