import CloudKit
import GRDB

/// The sharing of rows, derived from the rows: which of them are shared, and the links of their records.
///
/// A row is shared when it is the root of a share, or below a shared row. If the server has another
/// parent for a shared record, an outbox entry corrects it; records of unshared rows may keep the
/// link to the row above.
struct SharedTrees {
    let database: Database
    let mapping: RowMapping
    private let rows: RowStore

    /// The maximum depth of a tree.
    private static let depthLimit = 1000

    init(_ database: Database, _ mapping: RowMapping) {
        self.database = database
        self.mapping = mapping
        rows = RowStore(database: database, mapping: mapping)
    }

    private var catalog: TableCatalog { mapping.catalog }

    // MARK: Places of rows

    /// Returns the place of a row that follows from the rows; nil when it is not shared.
    func place(of key: RowKey) throws -> Place? {
        var current = key
        var seen: Set<RowKey> = []
        // Rows in a cycle are below no other row.
        while seen.insert(current).inserted, seen.count <= Self.depthLimit {
            if let place = try Place.fetch(database, current), try isFixed(place, of: current) {
                return place
            }
            guard let above = try above(current) else { return nil }
            current = above
        }
        return nil
    }

    /// Returns whether a row has its own place, rather than that of the row above it.
    ///
    /// A row that was never sent to the tree's owner follows the row above it; without one, it
    /// stays if its zone is shared as a whole.
    func isFixed(_ place: Place, of key: RowKey) throws -> Bool {
        if place.share != nil { return true }
        if place.zone == .own { return false }
        if catalog[key.table]?.format != nil { return true }
        if place.name != nil { return true }
        // A key that is too long for a record name has no record, so no place.
        guard let table = catalog[key.table], let name = try? key.recordName(table) else {
            return false
        }
        if try KnownRecord.fetch(database, name: name)?.zone == place.zone { return true }
        return try above(key) == nil && JoinedZone.isShared(place.zone, database)
    }

    /// Returns whether a change of a row, or of one above it, waits to be sent.
    func isPending(_ key: RowKey) throws -> Bool {
        var current: RowKey? = key
        var seen: Set<RowKey> = []
        while let key = current, seen.insert(key).inserted, seen.count <= Self.depthLimit {
            if try OutboxEntry.fetch(database, key) != nil { return true }
            current = try above(key)
        }
        return false
    }

    /// Returns the row with which a row is shared, if it is here.
    private func above(_ key: RowKey) throws -> RowKey? {
        guard let table = catalog[key.table], let row = try rows.row(key, table),
            let column = table.parentColumn, let target = column.target.flatMap({ catalog[$0] }),
            let name = try reference(row[column.name], column),
            let above = RowKey(recordName: name, target), try rows.row(above, target) != nil
        else { return nil }
        return above
    }

    private func reference(_ value: DatabaseValue?, _ column: TableColumn) throws -> String? {
        guard case .reference(let name) = try mapping.value(value ?? .null, column).plain else {
            return nil
        }
        return name
    }

    /// Returns the name of the record that a row's `parent` column refers to.
    ///
    /// If the column is NULL because the row above has not arrived, the server's reference counts.
    func reference(
        of row: StoredRow,
        _ table: TableSchema,
        _ known: KnownRecord,
        isEdited: Bool
    ) throws -> String? {
        guard let column = table.parentColumn else { return nil }
        if known.waiting != nil, !isEdited {
            let base = try known.baseFields { $0 == column.field }
            if case .reference(let name)? = base[column.field]?.plain { return name }
        }
        return try reference(row[column.name], column)
    }

    /// Returns whether the place of a record in the user's own zone matches its row.
    ///
    /// - Parameters:
    ///   - known: The record.
    ///   - parent: The server's parent record.
    /// - Returns: Whether they match; true for records without rows.
    /// - Throws: An error of the database.
    func isInPlace(_ known: KnownRecord, below parent: String?) throws -> Bool {
        guard let key = known.key, let table = catalog[key.table], known.problem == nil,
            let row = try rows.row(key, table)
        else { return true }
        let place = try place(of: key)
        if try Place.fetch(database, key)?.share != nil { return parent == nil }
        if place == nil, parent == nil { return true }
        return try parent == reference(of: row, table, known, isEdited: false)
    }

    // MARK: After a change

    /// Updates the places of some rows, and of the rows below those that entered or left a shared
    /// tree, to match the rows.
    ///
    /// - Parameters:
    ///   - keys: The rows.
    ///   - includesBelow: Whether to check all rows below, for rows that others may have changed
    ///     while they were not shared.
    /// - Throws: An error of the database.
    func settle(_ keys: some Sequence<RowKey>, includesBelow: Bool = false) throws {
        var next: [(key: RowKey, place: Place?)] = []
        for key in keys { next.append((key, try place(of: key))) }
        var seen: Set<RowKey> = []
        while let (key, place) = next.popLast() {
            guard seen.insert(key).inserted else { continue }
            let hasChanged = try settle(key, place)
            guard hasChanged || includesBelow else { continue }
            for child in try rows.keys(below: key) {
                let own = try Place.fetch(database, child)
                let isOwn = try own.map { try isFixed($0, of: child) } ?? false
                next.append((child, isOwn ? own : place))
            }
        }
    }

    /// Updates one row's place, and returns whether it was added or removed.
    private func settle(_ key: RowKey, _ place: Place?) throws -> Bool {
        let before = try Place.fetch(database, key)
        guard let place else {
            if before != nil { try Place.drop(database, key) }
            return before != nil
        }
        if before == nil {
            let name = try catalog[key.table].map(key.recordName)
            let known = try name.flatMap { try KnownRecord.fetch(database, name: $0) }
            var new = Place(zone: place.zone, writes: place.writes)
            if let known, known.system != nil, known.zone == place.zone {
                new.name = known.recordName
                new.parent = known.archived()?.parent?.recordID.recordName
            }
            try new.save(database, key)
        }
        if place.zone == .own { try link(key) }
        return before == nil
    }

    /// Schedules a record whose link differs from its row to be sent, unless the row waits anyway.
    private func link(_ key: RowKey) throws {
        guard let table = catalog[key.table], try OutboxEntry.fetch(database, key) == nil,
            let known = try KnownRecord.fetch(database, name: try key.recordName(table)),
            known.system != nil, known.zone == .own,
            try !isInPlace(known, below: Place.fetch(database, key)?.parent)
        else { return }
        try send([key])
    }

    /// Schedules the records of some rows to be checked with the next sending.
    func send(_ keys: [RowKey]) throws {
        for key in keys where try OutboxEntry.fetch(database, key) == nil {
            let now = try StoreClock.tick(database)
            try OutboxEntry(key: key, isDeleted: false, changed: [:], version: now).save(database)
        }
    }
}
