import GRDB

/// The phase that writes candidates as rows, parents and children in any order; rows without their parents wait, and
/// records that cannot become rows are quarantined.
struct RowPlacer: ApplyPhase {
    let context: ApplyContext

    private var parents: MissingParents { MissingParents(context: context) }

    /// Writes the rows of one batch.
    func place(_ candidates: [Candidate]) throws {
        guard !candidates.isEmpty else { return }
        try context.deferForeignKeys()
        var batch = Dictionary(candidates.map { ($0.known.name, $0) }) { _, last in last }
        try addWaiting(to: &batch)
        // By rank, so that parents precede children, and by name, so that the order is the same in
        // every run.
        var order = batch.map { (catalog.rank($0.value.table.name), $0.key, $0.value) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map(\.2)
        // A waiting row makes the rows that need it wait too.
        var hasChanged = order.contains { !$0.table.foreignKeys.isEmpty }
        while hasChanged {
            hasChanged = false
            let zones = Self.zones(order)
            var placeable: [Candidate] = []
            for candidate in order {
                if let name = try parents.first(of: candidate, besides: zones) {
                    try hold(candidate, for: name)
                    hasChanged = true
                } else {
                    placeable.append(candidate)
                }
            }
            order = placeable
        }
        // Writing a row may still fail; the rows that need it are then held, too.
        var absent: Set<String> = []
        var written: [Candidate] = []
        lazy var zones = Self.zones(order)
        var rest = order[...]
        while let table = rest.first?.table.name {
            let group = rest.prefix { $0.table.name == table }
            rest = rest.dropFirst(group.count)
            written += try write(Array(group), &absent) { zones }
        }
        // In a cycle of tables a row can be written before its parent fails.
        while !absent.isEmpty,
            let index = try written.firstIndex(where: { try parents.first(of: $0) != nil })
        {
            try takeOut(written.remove(at: index))
        }
        // The edits of rows that existed were compared when they were merged.
        try LostEditRestorer(context: context).restore(written.filter { $0.existing == nil })
        try DuplicateReplacer(context: context).replace()
    }

    /// Writes the rows of one table.
    ///
    /// - Parameters:
    ///   - group: The rows.
    ///   - absent: The names of the records that did not become rows.
    ///   - zones: A closure that returns the zones of all records of the batch, by name.
    /// - Returns: The written rows.
    /// - Throws: An error of the database.
    private func write(
        _ group: [Candidate],
        _ absent: inout Set<String>,
        _ zones: () -> [String: StoreZone]
    ) throws -> [Candidate] {
        var written: [Candidate] = []
        var next = group
        while !next.isEmpty {
            var colliding: [Collision] = []
            var held: [(candidate: Candidate, name: String)] = []
            for planned in next {
                guard let candidate = try current(planned) else {
                    absent.insert(planned.known.name)
                    continue
                }
                if !absent.isEmpty,
                    let name = try parents.first(
                        of: candidate,
                        besides: zones().filter { !absent.contains($0.key) }
                    )
                {
                    held.append((candidate, name))
                    absent.insert(candidate.known.name)
                    continue
                }
                switch try attempt(candidate) {
                case .written: written.append(candidate)
                case .quarantined: absent.insert(candidate.known.name)
                case .collides(let error):
                    colliding.append((candidate, error))
                    // A row that exists can be referred to, whatever values it gets.
                    if candidate.existing == nil { absent.insert(candidate.known.name) }
                }
            }
            let settled = try settle(colliding)
            written += settled
            absent.formUnion(colliding.map(\.candidate.known.name))
            absent.subtract(settled.map(\.known.name))
            absent.formUnion(context.displaced)
            next = []
            if settled.contains(where: { $0.existing == nil }) {
                // One of them may be the row above others of the table.
                next = held.map(\.candidate)
                absent.subtract(next.map(\.known.name))
            } else {
                for (candidate, name) in held { try hold(candidate, for: name) }
            }
        }
        return written
    }

    /// Returns a row as it is now: it may have been hidden, with a row of the batch that has UNIQUE values of another
    /// user's.
    private func current(_ candidate: Candidate) throws -> Candidate? {
        guard context.hasHidden, candidate.existing != nil,
            try rows.row(candidate.key, candidate.table) == nil
        else { return candidate }
        try candidate.known.save(database)
        return try self.candidate(candidate.known.name)
    }

    /// Returns the zones of some records, by name.
    private static func zones(_ candidates: [Candidate]) -> [String: StoreZone] {
        Dictionary(candidates.map { ($0.known.name, $0.known.zone) }) { first, _ in first }
    }

    /// Removes a row that was just written, because its parent could not be.
    private func takeOut(_ candidate: Candidate) throws {
        let name = try parents.first(of: candidate)
        try hold(candidate, for: name ?? "")
        // It may have been hidden with its parent.
        guard try rows.row(candidate.key, candidate.table) != nil else { return }
        guard let existing = candidate.existing else {
            try rows.delete(candidate.key, candidate.table)
            return context.forget(candidate.key)
        }
        let before = try mapping.fields(existing, candidate.table)
        if context.hasHidden, try parents.first(of: candidate.with(before)) != nil {
            // What it referred to before is hidden as well.
            if let candidate = try self.candidate(candidate.known.name) { _ = try show(candidate) }
            return
        }
        _ = try rows.write(
            before,
            candidate.key,
            candidate.table,
            over: rows.row(candidate.key, candidate.table),
            files: [:]
        )
    }

    /// Adds the rows that wait for rows of the batch, recursively.
    private func addWaiting(to batch: inout [String: Candidate]) throws {
        // Usually nothing waits, and one question saves one for each row.
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
                guard let candidate = try candidate(waiting),
                    candidate.known.zone == batch[name]?.known.zone
                else { continue }
                batch[waiting] = candidate
                next.append(waiting)
            }
        }
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

    /// The result of trying to write a row alone.
    private enum Attempt {
        case written
        case quarantined
        /// Another row has its UNIQUE values, as the error says.
        case collides(DatabaseError)
    }

    private typealias Collision = (candidate: Candidate, error: DatabaseError)

    /// Writes a row, or quarantines its record with the reason.
    ///
    /// - Returns: Whether the row exists.
    private func write(_ candidate: Candidate) throws -> Bool {
        switch try attempt(candidate) {
        case .written: true
        case .quarantined: false
        case .collides(let error): try !settle([(candidate, error)]).isEmpty
        }
    }

    /// Writes a row, or quarantines its record, unless another row has its UNIQUE values.
    private func attempt(_ candidate: Candidate) throws -> Attempt {
        let kind: RowChange.Kind?
        do {
            kind = try rows.write(candidate)
        } catch let error as UnmappableValue {
            try quarantine(candidate, "The record '\(candidate.known.name)': \(error)")
            return .quarantined
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Violations of other constraints involve no second row that could give way.
            if error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE { return .collides(error) }
            try quarantine(candidate, error)
            return .quarantined
        }
        try finish(candidate, kind)
        return .written
    }

    /// Writes rows that have UNIQUE values of each other, decides between those that cannot both be, and quarantines
    /// the rest.
    ///
    /// - Returns: The rows that are written.
    private func settle(_ colliding: [Collision]) throws -> [Candidate] {
        var rest = colliding
        var written: [Candidate] = []
        var hasFreed = true
        while hasFreed, !rest.isEmpty {
            hasFreed = false
            rest = try rest.compactMap { collision in
                try current(collision.candidate).map { ($0, collision.error) }
            }
            let exchanged = try UniqueExchange(context: context).write(rest.map(\.candidate))
            for (candidate, kind) in exchanged {
                try finish(candidate, kind)
                written.append(candidate)
            }
            let names = Set(exchanged.map(\.candidate.known.name))
            rest.removeAll { names.contains($0.candidate.known.name) }
            var undecided: [Collision] = []
            for collision in rest {
                switch try UniquenessJudge(context: context).decide(collision.candidate) {
                case nil: continue
                // The conflicting row was removed.
                case true?: hasFreed = true
                case false?: break
                }
                undecided.append(collision)
            }
            rest = undecided
        }
        for (candidate, error) in rest {
            if try UniquenessJudge(context: context).yields(candidate) {
                // As on a device that never had the row.
                candidate.existing = nil
            } else {
                try follow(candidate)
            }
            try quarantine(candidate, error)
        }
        return written
    }

    /// Writes all values of its record that another user's row can have, which is here with edits to be sent.
    ///
    /// Whoever edits it before it is hidden sees what the owner wrote.
    private func follow(_ candidate: Candidate) throws {
        let judge = UniquenessJudge(context: context)
        guard candidate.known.zone.isShared, let row = try rows.row(candidate.key, candidate.table),
            try judge.rivals(of: candidate).contains(where: {
                try !judge.isOneUsers($0.key, candidate)
            })
        else { return }
        let unique = try rows.uniqueNames(candidate.table)
        let fields = candidate.fields.filter { field, _ in
            !unique.contains(candidate.table.byField[field]?.name ?? "")
        }
        do {
            let kind = try rows.write(
                fields,
                candidate.key,
                candidate.table,
                over: row,
                files: candidate.files
            )
            if let kind { context.note(kind, candidate.key) }
        } catch is UnmappableValue {
            return
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Another constraint needs the values together.
            return
        }
    }

    private func quarantine(_ candidate: Candidate, _ error: DatabaseError) throws {
        if error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE,
            let problem = try UniquenessJudge(context: context).problem(of: candidate)
        {
            return try quarantine(candidate, problem)
        }
        try quarantine(
            candidate,
            "The record '\(candidate.known.name)' violates a constraint of the table '"
                + "\(candidate.table.name)': \(error.message ?? "\(error.extendedResultCode)"); "
                + "change the conflicting row"
        )
    }

    private func quarantine(_ candidate: Candidate, _ problem: String) throws {
        var known = try postponed(candidate)
        known.problem = problem
        try known.save(database)
    }

    /// Saves the record of a row that was written, and notes the change.
    private func finish(_ candidate: Candidate, _ kind: RowChange.Kind?) throws {
        if let kind { context.note(kind, candidate.key) }
        var known = candidate.known
        known.lacks = try lacksAssets(candidate)
        try save(known, of: candidate)
        context.written.append(candidate.key)
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

    /// Returns whether assets of the row did not arrive with it, because it had to wait.
    private func lacksAssets(_ candidate: Candidate) throws -> Bool {
        for column in candidate.table.assetColumns where column.download == .withRow {
            guard case .asset? = candidate.fields[column.field]?.plain,
                candidate.files[column.field] == nil
            else { continue }
            // Bytes from before, or from a download, are not lacking.
            let row = try rows.row(candidate.key, candidate.table)
            if row?[column.name]?.isNull == true { return true }
        }
        return false
    }

    // MARK: At the end of a fetch

    /// Retries waiting and quarantined records.
    func retryHidden() throws {
        // Each condition has an index; an index would not be used for both.
        let hidden = try ["problem IS NOT NULL", "waiting IS NOT NULL AND problem IS NULL"]
            .flatMap { try KnownRecord.fetchAll(database, where: $0 + " AND tbl IS NOT NULL") }
        try place(try (hidden.map(\.name) + topsToJoin()).compactMap(candidate))
    }

    /// Shows the waiting rows, without their references to missing rows.
    ///
    /// A row that shows may be the target of another, in any order of names, so the rows are
    /// checked again until no more can show.
    func showWaiting() throws {
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
                // Only a row that is new here can be the one that others wait for.
                if candidate.existing == nil { shown.insert(known.name) }
            }
            // Tops wait for no row above them, which may show only now.
            for candidate in try topsToJoin().compactMap(candidate) { _ = try show(candidate) }
        }
    }

    /// Writes a row without its references to missing rows, if it can exist without them.
    ///
    /// - Returns: Whether the row shows.
    func show(_ candidate: Candidate) throws -> Bool {
        let missing = try parents.all(of: candidate)
        // The row above the root of a share stays with its owner.
        let isTop =
            try candidate.known.zone != .own
            && Place.fetch(database, candidate.key)?.share != nil
        // The key of the row above belongs to a row of another zone, below which this one would
        // show.
        if let name = try TakenKeys(context: context)
            .name(above: candidate, lacking: missing, isTop: isTop)
        {
            if candidate.existing == nil {
                try hold(candidate, for: name)
            } else {
                try RowWithdrawer(context: context).hide(candidate, waitingFor: name)
            }
            return false
        }
        let columns = missing.map { missing in
            missing.foreignKey.columns.compactMap(candidate.table.column).filter { !$0.isNotNull }
        }
        // If no column can be cleared, or the key would have to be, the row cannot show without the
        // other one.
        if let place = columns.firstIndex(where: { $0.allSatisfy(\.isKey) }) {
            try RowWithdrawer(context: context).hide(candidate, waitingFor: missing[place].name)
            return false
        }
        for column in columns.joined() { candidate.fields[column.field] = .null }
        candidate.known.waiting = isTop ? nil : missing.first?.name
        return try write(candidate)
    }

    /// Returns the roots of others' shares whose row above stayed with its owner, and has now arrived.
    ///
    /// The root's record does not change when the row above it is shared too, so it does not arrive again.
    private func topsToJoin() throws -> [String] {
        guard context.hasPlaces else { return [] }
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
                    let values = try parents.values(of: foreignKey, candidate)
                else { return false }
                return try parents.isThere(values, foreignKey, parent, in: candidate.known.zone)
            }
        }
    }
}
