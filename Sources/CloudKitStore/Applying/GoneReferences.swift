import GRDB

/// References to deleted records, in changes by devices that did not know of the deletion.
///
/// SQLite applied the schema's actions to the rows that existed. For later arrivals, devices with
/// all rows of the zone apply the same actions; others cannot distinguish a deletion from a record
/// that they may not see.
struct GoneReferences: ApplyPhase {
    let context: ApplyContext

    private var placer: RowPlacer { RowPlacer(context: context) }
    private var deleter: RowDeleter { RowDeleter(context: context) }

    /// The maximum number of remembered deleted records.
    private static let goneLimit = 10_000

    /// `true` when this device has all rows of the zone.
    private var hasAllRows: Bool { zone == .own || zone.isOwned }

    /// Remembers that a record of one of the user's zones is deleted.
    ///
    /// The server refuses references to it, except from shared records and where references are text.
    func noteGone(_ name: String) throws {
        guard context.hasPlaces || catalog.hasFormats, hasAllRows else { return }
        try database.run("INSERT OR REPLACE INTO grdb_cloudkit_gone (name) VALUES (?)", [name])
    }

    /// Applies the schema's actions to the rows that wait for deleted records.
    func resolve() throws {
        guard hasAllRows else { return }
        try database.run(
            "DELETE FROM grdb_cloudkit_gone WHERE id <= (SELECT max(id) FROM grdb_cloudkit_gone) - ?",
            [Self.goneLimit]
        )
        var resolved: [Candidate] = []
        let waiting = try KnownRecord.fetchAll(
            database,
            where: "waiting IS NOT NULL AND zone = ?",
            arguments: [zone]
        )
        for known in waiting {
            guard let candidate = try candidate(known.name) else { continue }
            let gone = try MissingParents(context: context).all(of: candidate)
                .filter { try isGone($0.name) }.map(\.foreignKey)
            guard !gone.isEmpty else { continue }
            let table = candidate.table
            let isHeld = try isHeld(candidate)
            // A row that others hold is not deleted: it shows without the reference if its columns
            // allow that, or waits.
            if let needed = gone.first(where: { $0.deletion == .cascade || table.requires($0) }),
                !isHeld
            {
                try remove(
                    candidate,
                    rule: needed.deletion == .cascade ? "cascade" : JournalEntry.reference
                )
            } else if !gone.contains(where: table.requires) {
                resolved.append(try clear(gone, of: candidate))
            }
        }
        try placer.place(resolved)
        try PlaceKeeper(context: context).settleTrees()
    }

    /// Returns whether a record is deleted and was not created again.
    private func isGone(_ name: String) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_gone WHERE name = ?)"
        )
        return try Bool.fetchOne(statement, arguments: [name]) ?? false
            && KnownRecord.fetch(database, name: name)?.system == nil
    }

    /// Returns whether other rows block the deletion of a row, which then stays without its reference.
    private func isHeld(_ candidate: Candidate) throws -> Bool {
        guard let row = candidate.existing else { return false }
        return try deleter.isReferred(candidate.key, row, candidate.table)
    }

    /// Deletes a row that the schema deletes with another.
    private func remove(_ candidate: Candidate, rule: String) throws {
        // Another device edited it, or it would have been deleted before.
        let lost = MergePlan.Overruled(fields: candidate.fields, side: .remote, rule: rule)
        try journal.add([lost], candidate.key, kept: nil, at: clock.edit(0))
        // It may show without the referenced row.
        if let row = candidate.existing { try deleter.remove(candidate.key, candidate.table, row) }
        try OutboxEntry.noteDeletion(of: candidate.key, database)
    }

    /// Removes references from a row that can exist without them.
    ///
    /// They are in the journal where the schema does not say that they are cleared: it deletes the row, or
    /// keeps the one that it refers to.
    private func clear(_ foreignKeys: [ForeignKey], of candidate: Candidate) throws -> Candidate {
        func fields(_ foreignKeys: [ForeignKey]) -> [String] {
            foreignKeys.flatMap(\.columns).compactMap(candidate.table.column)
                .filter { !$0.isNotNull && !$0.isKey }.map(\.field)
        }
        let kept = fields(foreignKeys.filter { ![.setNull, .setDefault].contains($0.deletion) })
        let lost = candidate.fields.filter { kept.contains($0.key) && !$0.value.isNull }
        let cleared = fields(foreignKeys)
        for field in cleared { candidate.fields[field] = .null }
        if !lost.isEmpty {
            try journal.add(
                [.init(fields: lost, side: .remote, rule: JournalEntry.reference)],
                candidate.key,
                kept: candidate.fields,
                at: clock.edit(0)
            )
        }
        try send(candidate.key, cleared)
        return candidate
    }

    /// Removes a reference to a row that the server refused from a row that it accepted.
    func release(_ foreignKey: ForeignKey, of known: KnownRecord) throws {
        guard known.system != nil, known.zone == zone, let candidate = try candidate(known.name)
        else { return }
        if !candidate.table.requires(foreignKey) {
            _ = try placer.show(clear([foreignKey], of: candidate))
        } else if try !isHeld(candidate) {
            try remove(candidate, rule: JournalEntry.access)
        }
    }

    private func send(_ key: RowKey, _ fields: [String]) throws {
        let now = try StoreClock.tick(database)
        var entry = OutboxEntry(key: key, isDeleted: false, changed: [:], version: now)
        // The entry's earlier edits keep their times.
        if let before = try OutboxEntry.fetch(database, key) {
            entry.changed = before.changed
            entry.since = before.since
        }
        for field in fields { entry.changed[field] = now }
        try entry.save(database)
    }

    /// Applies the schema's actions to the rows linked to a row whose deletion the server refuses:
    /// it keeps a record while others are below it.
    ///
    /// - Parameter name: The name of the record to be deleted.
    /// - Returns: Whether the record can be deleted then; otherwise a row that does not show here stays
    ///   below it.
    /// - Throws: An error of the database.
    func removeBelow(_ name: String) throws -> Bool {
        var cleared: [Candidate] = []
        var isFree = true
        let waiting = try KnownRecord.fetchAll(
            database,
            where: "waiting IS NOT NULL AND zone = ?",
            arguments: [zone]
        )
        for known in waiting {
            // Only the link to the parent holds a record on the server; the other references have
            // no action.
            guard let key = known.key, let table = catalog[key.table],
                let column = table.parentColumn,
                case .reference(name)? = try known.baseFields(where: { $0 == column.field })[
                    column.field
                ]?.plain,
                try OutboxEntry.fetch(database, key)?.isDeleted != true
            else { continue }
            let links = table.foreignKeys.filter { $0.columns == [column.name] }
            let candidate = try candidate(known.name)
            let isDeleted = links.contains { $0.deletion == .cascade || table.requires($0) }
            if isDeleted, let candidate, try !isHeld(candidate) {
                try remove(candidate, rule: "cascade")
            } else if hasAllRows {
                // An entry without fields makes the next batch remove the link, after which the
                // record can be deleted.
                try send(key, [])
            } else if let candidate, candidate.existing != nil,
                !links.contains(where: table.requires)
            {
                // In another user's tree the reference is the link: the row leaves the tree without it.
                cleared.append(try clear(links, of: candidate))
            } else {
                isFree = false
            }
        }
        try placer.place(cleared)
        try PlaceKeeper(context: context).settleTrees()
        return isFree
    }
}

extension TableSchema {
    /// Returns whether a row cannot exist without the target of a foreign key.
    func requires(_ foreignKey: ForeignKey) -> Bool {
        foreignKey.columns.allSatisfy { name in
            column(name).map { $0.isNotNull || $0.isKey } ?? false
        }
    }
}
