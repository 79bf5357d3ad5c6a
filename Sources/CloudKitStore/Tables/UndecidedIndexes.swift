import GRDB

/// The UNIQUE rules between whose rows the store does not decide, because the values that have to differ are in no plain
/// synced columns.
struct UndecidedIndexes {
    let database: Database
    let catalog: TableCatalog

    /// Returns a sentence for each, with the remedy.
    func warnings() throws -> [String] {
        try catalog.tables.flatMap { table -> [String] in
            guard table.declaration.uniqueness == .firstWins, table.format == nil else { return [] }
            return try indexes(of: table).map { name, reason in
                "The UNIQUE index '\(name)' of the table '\(table.name)' \(reason), so the store does not decide "
                    + "between two rows that it forbids: each stays where it was made and waits on other "
                    + "devices until the user changes one; make the index one of plain synced columns, or "
                    + "declare uniqueness: .waits, which does the same without this warning"
            }
        }
    }

    private func indexes(of table: TableSchema) throws -> [(name: String, reason: String)] {
        let found = try Row.fetchAll(
            database,
            sql: "PRAGMA index_list(\(table.name.quoted))"
        )
        return try found.compactMap { index in
            guard index["unique"] as Bool, index["origin"] as String != "pk" else { return nil }
            let name: String = index["name"]
            if index["partial"] as Bool { return (name, "has a condition") }
            let names = try Row.fetchAll(database, sql: "PRAGMA index_info(\(name.quoted))")
                .map { $0["name"] as String? }
            for column in names {
                guard let column else { return (name, "has an expression") }
                guard table.column(column) == nil else { continue }
                return (name, "has the column '\(column)', which is not synced")
            }
            return nil
        }
        .sorted { $0.name < $1.name }
    }
}
