import GRDB

/// The columns of a store that keep the order of ordered relationships.
struct OrderColumns {
    /// The names of tables and to-one ends, such as `ZITEM.LIST`.
    private var direct: Set<String> = []
    /// The names of join tables, by the ordered end.
    private var joins: [String: [String]] = [:]

    var isEmpty: Bool { direct.isEmpty && joins.isEmpty }

    init(_ database: Database) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT m.name, c.name
                FROM sqlite_master m, pragma_table_info(m.name) c
                WHERE m.type = 'table' AND c.name LIKE 'Z\\_FOK\\_%' ESCAPE '\\'
                LIMIT 10000
                """
        )
        while let row = try rows.next() {
            guard let table = String.fromDatabaseValue(row[0]),
                let column = String.fromDatabaseValue(row[1])
            else { continue }
            let end = column.dropFirst("Z_FOK_".count)
            if table.hasPrefix("Z_") {
                // Both names begin with the number of an entity.
                let name = String(end.drop(while: \.isWholeNumber))
                joins[name, default: []].append(
                    String(table.dropFirst(2).drop(while: \.isWholeNumber))
                )
            } else {
                direct.insert("\(table).\(end)")
            }
        }
    }

    /// Returns whether the to-one end of an ordered relationship has an order column.
    func hasColumn(of toOne: String, inTableOf root: String) -> Bool {
        direct.contains("Z\(root.uppercased()).\(toOne.uppercased())")
    }

    /// Returns whether one end of a join table is ordered.
    ///
    /// The table has the name of one of the ends.
    func hasJoin(of name: String, with inverse: String) -> Bool {
        let ends = [name.uppercased(), inverse.uppercased()]
        return (joins[ends[0]] ?? []).contains { table in ends.contains { table.hasPrefix($0) } }
    }
}
