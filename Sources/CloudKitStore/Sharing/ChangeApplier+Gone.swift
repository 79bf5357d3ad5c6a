import GRDB

/// References to records that are deleted, in changes of those who had not heard of it.
///
/// SQLite did with the rows that were there what the schema says. What comes later, the devices that
/// have all rows of the zone do the same with; others cannot tell a deletion from what they may not see.
extension ChangeApplier {
    /// How many of the records that were deleted last are known to be.
    private static let goneLimit = 10_000

    /// Notes that a record of the user's own zone is deleted.
    func noteGone(_ name: String) throws {
        guard hasPlaces, zone.isEmpty else { return }
        try database.run("INSERT OR REPLACE INTO grdb_cloudkit_gone (name) VALUES (?)", [name])
    }

    /// Does with the rows that wait for records which are deleted what the schema would have done.
    mutating func resolveReferences() throws {
        guard zone.isEmpty else { return }
        try database.run(
            "DELETE FROM grdb_cloudkit_gone WHERE id <= (SELECT max(id) FROM grdb_cloudkit_gone) - ?",
            [Self.goneLimit]
        )
        var resolved: [Candidate] = []
        let waiting = try KnownRecord.fetchAll(
            database,
            where: "waiting IS NOT NULL AND zone = ''"
        )
        for known in waiting {
            guard let candidate = try candidate(known.name) else { continue }
            let gone = try missingParents(of: candidate).filter { try isGone($0.name) }
                .map(\.foreignKey)
            guard !gone.isEmpty else { continue }
            let table = candidate.table
            let isHeld = try isHeld(candidate)
            if let needed = gone.first(where: { $0.deletion == .cascade || table.requires($0) }),
                !isHeld
            {
                try remove(candidate, rule: needed.deletion == .cascade ? "cascade" : "reference")
            } else if !gone.contains(where: table.requires) {
                resolved.append(try clear(gone, of: candidate))
            }
        }
        try place(resolved)
        try settleTrees()
    }

    /// Whether a record is deleted, and was not made again.
    private func isGone(_ name: String) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_gone WHERE name = ?)"
        )
        return try Bool.fetchOne(statement, arguments: [name]) ?? false
            && KnownRecord.fetch(database, name: name)?.system == nil
    }

    /// Whether others keep a row from being deleted; it stays without its reference then.
    private func isHeld(_ candidate: Candidate) throws -> Bool {
        guard let row = candidate.existing else { return false }
        return try isReferred(candidate.key, row, candidate.table)
    }

    /// Deletes a row that goes with one which is deleted.
    private mutating func remove(_ candidate: Candidate, rule: String) throws {
        // Somebody edited it, or else it would have been deleted before.
        let lost = MergePlan.Overruled(fields: candidate.fields, side: .remote, rule: rule)
        try journal.add([lost], candidate.key, kept: nil, at: clock.edit(0))
        // It may show without what it refers to.
        if let row = candidate.existing { try remove(candidate.key, candidate.table, row) }
        try send(candidate.key, isDeleted: true, [])
    }

    /// Takes references out of a row that can be without them.
    private func clear(_ foreignKeys: [ForeignKey], of candidate: Candidate) throws -> Candidate {
        let fields = foreignKeys.flatMap(\.columns).compactMap(candidate.table.column)
            .filter { !$0.isNotNull && !$0.isKey }.map(\.field)
        for field in fields { candidate.fields[field] = .null }
        try send(candidate.key, isDeleted: false, fields)
        return candidate
    }

    /// Takes a reference to a row that the server refused out of a row that it accepted.
    mutating func release(_ foreignKey: ForeignKey, of known: KnownRecord) throws {
        guard known.system != nil, known.zone == zone, let candidate = try candidate(known.name)
        else { return }
        if !candidate.table.requires(foreignKey) {
            _ = try show(clear([foreignKey], of: candidate))
        } else if try !isHeld(candidate) {
            try remove(candidate, rule: "access")
        }
    }

    private func send(_ key: RowKey, isDeleted: Bool, _ fields: [String]) throws {
        let now = try StoreClock.tick(database)
        var entry = OutboxEntry(key: key, isDeleted: isDeleted, changed: [:], version: now)
        if !isDeleted, let before = try OutboxEntry.fetch(database, key) {
            entry.changed = before.changed
            entry.since = before.since
        }
        for field in fields { entry.changed[field] = now }
        try entry.save(database)
    }

    /// Does with the rows that are linked to one whose deletion the server refuses what the schema
    /// would have done: it keeps a record for as long as others are below it.
    mutating func removeBelow(_ name: String) throws {
        let waiting = try KnownRecord.fetchAll(
            database,
            where: "waiting IS NOT NULL AND zone = ?",
            arguments: [zone]
        )
        for known in waiting {
            guard let key = known.key, let table = catalog[key.table],
                let column = table.parentColumn,
                case .reference(name)? = try known.baseFields(where: { $0 == column.field })[
                    column.field
                ]?.plain,
                try OutboxEntry.fetch(database, key)?.isDeleted != true
            else { continue }
            let cascades = table.foreignKeys.contains {
                $0.columns == [column.name] && ($0.deletion == .cascade || table.requires($0))
            }
            if cascades, let candidate = try candidate(known.name), try !isHeld(candidate) {
                try remove(candidate, rule: "cascade")
            } else {
                try send(key, isDeleted: false, [])
            }
        }
    }
}

extension TableSchema {
    /// Whether a row cannot be without what a foreign key refers to.
    fileprivate func requires(_ foreignKey: ForeignKey) -> Bool {
        foreignKey.columns.allSatisfy { name in
            column(name).map { $0.isNotNull || $0.isKey } ?? false
        }
    }
}
