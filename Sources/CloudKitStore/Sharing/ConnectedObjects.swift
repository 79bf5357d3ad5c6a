import GRDB
import Synchronization

/// The places of new rows whose format another client determines: with the rows that they are connected with.
///
/// Core Data has no row above another with which it is shared. All objects that relationships connect are in one
/// zone, so a new row goes into the zone of those that it refers to, or that refer to it, directly or over
/// other new rows.
final class ConnectedObjects: Sendable {
    private struct State {
        /// The new rows that belong into the user's own zone.
        var own: Set<RowKey> = []
        /// `true` when all new rows were looked at in this round.
        var isComplete = false
    }

    private let state = Mutex(State())

    /// Forgets what was found, because rows may have changed.
    func forget() { state.withLock { $0 = State() } }

    /// Assigns all new rows their places, once in a round.
    func placeAll(_ database: Database, _ mapping: RowMapping) throws {
        guard mapping.catalog.hasFormats, try Place.exist(database),
            !state.withLock({ exchange(&$0.isComplete, with: true) })
        else { return }
        for entry in try OutboxEntry.fetchAll(database, where: "deleted = 0") {
            try place(entry.key, database, mapping)
        }
    }

    /// Assigns a new row, and the new rows that are connected with it, their place, unless it has one.
    func place(_ key: RowKey, _ database: Database, _ mapping: RowMapping) throws {
        guard !state.withLock({ $0.own.contains(key) }) else { return }
        let neighbors = Neighbors(database, mapping)
        guard try neighbors.isNew(key) else { return }
        var new: Set<RowKey> = [key]
        var next = [key]
        var places: [Place] = []
        while let current = next.popLast() {
            for other in try neighbors.of(current) where !new.contains(other) {
                if try neighbors.isNew(other) {
                    new.insert(other)
                    next.append(other)
                } else if let place = try Place.fetch(database, other), place.zone != .own {
                    places.append(place)
                }
            }
        }
        // Rows that connect two zones are refused when they are sent.
        guard let place = places.min(by: { $0.zone < $1.zone }) else {
            return state.withLock { $0.own.formUnion(new) }
        }
        for key in new {
            try Place(zone: place.zone, writes: place.writes).save(database, key)
        }
    }
}

/// The rows that refer to a row, or that it refers to.
private struct Neighbors {
    private let database: Database
    private let mapping: RowMapping
    private let rows: RowStore

    init(_ database: Database, _ mapping: RowMapping) {
        self.database = database
        self.mapping = mapping
        rows = RowStore(database: database, mapping: mapping)
    }

    private var catalog: TableCatalog { mapping.catalog }

    /// Returns whether a row has no place and no record on the server.
    func isNew(_ key: RowKey) throws -> Bool {
        // A key that is too long for a record name has no record.
        guard let table = catalog[key.table], table.format != nil,
            try Place.fetch(database, key) == nil, let name = try? key.recordName(table)
        else { return false }
        return try KnownRecord.fetch(database, name: name)?.system == nil
            && rows.row(key, table) != nil
    }

    func of(_ key: RowKey) throws -> [RowKey] {
        guard let table = catalog[key.table], let row = try rows.row(key, table) else { return [] }
        var keys = try mapping.targets(of: row, table).map(\.key)
        for (name, foreignKey) in catalog.foreignKeys(to: table.name) {
            guard let child = catalog[name] else { continue }
            keys += try rows.rows(referring: foreignKey, child, row)
                .compactMap { RowStore.key($0, child) }
        }
        return keys
    }
}

extension RowMapping {
    /// Returns the rows that a row refers to, with the fields that do.
    func targets(
        of row: StoredRow,
        _ table: TableSchema
    ) throws -> [(field: String, key: RowKey)] {
        try table.columns.compactMap { column in
            guard let name = column.target, let target = catalog[name],
                case .reference(let recordName) =
                    try value(row[column.name] ?? .null, column).plain,
                let key = RowKey(recordName: recordName, target)
            else { return nil }
            return (column.field, key)
        }
    }
}
