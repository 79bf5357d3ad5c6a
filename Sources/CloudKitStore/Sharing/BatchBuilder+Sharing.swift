import GRDB

extension BatchBuilder {
    /// The name of the record that a row is linked to, so that it is shared with it; nil when that
    /// is not shared, or the server does not have it yet.
    func parentName(_ row: StoredRow, _ table: TableSchema) throws -> String? {
        guard let column = table.parentColumn, let target = column.target.flatMap({ catalog[$0] }),
            case .reference(let name) = try mapping.value(row[column.name] ?? .null, column)
                .plain,
            let key = RowKey(recordName: name, target),
            try Place.fetch(database, key)?.zone == zone, try isThere(key)
        else { return nil }
        return name
    }

    /// Shares the rows below a shared one that came before it was.
    func linkChildren(of row: StoredRow, _ table: TableSchema) throws {
        for (name, foreignKey) in catalog.foreignKeys(to: table.name) {
            guard let child = catalog[name], let column = child.parentColumn,
                foreignKey.columns == [column.name]
            else { continue }
            for childRow in try rows.rows(referring: foreignKey, child, row) {
                guard let key = RowStore.key(childRow, child),
                    try Place.fetch(database, key) == nil
                else { continue }
                try Place(zone: zone, writes: true).save(database, key)
                guard try OutboxEntry.fetch(database, key) == nil else { continue }
                let now = try StoreClock.tick(database)
                try OutboxEntry(key: key, isDeleted: false, changed: [:], version: now)
                    .save(database)
            }
        }
    }
}
