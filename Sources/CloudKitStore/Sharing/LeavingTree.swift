import GRDB

/// The SQL for a row that an update takes out of a shared tree.
///
/// It is no longer shared, or goes below a row of this user's own. A row that was never sent to the
/// tree's owner then becomes this user's own, with all rows below it; so the owner must not have any
/// of them, and no reference may remain between them and the tree.
struct LeavingTree {
    private let table: TableSchema
    private let catalog: TableCatalog
    /// The SQL that finds the place of the row above.
    private let above: String
    /// The row whose key is looked up, `OLD` before the update and `NEW` after it.
    private let row: String

    init(_ table: TableSchema, _ catalog: TableCatalog, above: String, row: String = "NEW") {
        self.table = table
        self.catalog = catalog
        self.above = above
        self.row = row
    }

    /// The condition under which the row becomes the user's own.
    var becomesOwn: String {
        "EXISTS (SELECT 1 FROM grdb_cloudkit_place t WHERE \(isUnsent("t")))"
    }

    /// The condition under which the row may not leave.
    var condition: String {
        """
        WHERE EXISTS (SELECT 1 FROM grdb_cloudkit_place t WHERE \(isUnsent("t")) AND EXISTS (
                    \(going) SELECT 1 FROM (
                        \(ties.joined(separator: "\n                        UNION ALL "))
                    )))
        """
    }

    /// The statements that remove the places of the leaving rows.
    var leave: String {
        let row = "grdb_cloudkit_place"
        return """
            DELETE FROM grdb_cloudkit_place
                    WHERE EXISTS (SELECT 1 FROM grdb_cloudkit_place t WHERE \(isUnsent("t")))
                        AND (tbl, key) <> (\(name), \(key))
                        AND (tbl, key) IN (\(going) SELECT tbl, key FROM going);
                DELETE FROM grdb_cloudkit_place
                    WHERE (\(isRow(row)) AND \(row).zone = '' AND NOT EXISTS (\(above)))
                        OR (\(isUnsent(row)));
            """
    }

    private var name: String { table.name.literal }
    private var key: String { RowKey.sql(table, of: row) }

    /// Returns the condition that a place is the row's, and that it is not the root of a share.
    private func isRow(_ place: String) -> String {
        "\(place).tbl = \(name) AND \(place).key = \(key) AND \(place).share IS NULL"
    }

    /// Returns the condition that a place is the row's in another user's zone, that no row of another
    /// user is above it, and that its owner does not have the row.
    ///
    /// A row below no other stays in a zone that is shared as a whole.
    private func isUnsent(_ place: String) -> String {
        let isBelow = table.parentColumn.map { "NEW.\($0.name.quoted) IS NOT NULL" } ?? "false"
        return """
            \(isRow(place)) AND \(place).zone <> '' AND NOT EXISTS (\(above) AND zone <> '')
                        AND \(place).name IS NULL AND NOT EXISTS (SELECT 1
                        FROM grdb_cloudkit_record r WHERE r.tbl = \(Words.sql(name))
                        AND r.key = \(key) AND r.zone <> '')
                        AND (\(isBelow) OR NOT EXISTS (SELECT 1 FROM grdb_cloudkit_share s
                        WHERE s.zone = \(place).zone AND s.name = 'cloudkit.zoneshare'))
            """
    }

    /// The SQL of the row and all rows below it.
    private var going: String {
        var parts = ["SELECT \(name), \(key)"]
        for child in catalog.tables where !child.isPublic {
            guard let column = child.parentColumn, let target = target(column) else { continue }
            parts.append(
                "SELECT \(child.name.literal), \(RowKey.sql(child, of: "x")) "
                    + "FROM \(child.name.quoted) x JOIN going g "
                    + "ON g.tbl = \(target.table.literal) AND g.key = \(target.key)"
            )
        }
        let all = parts.joined(separator: "\n                        UNION ")
        return "WITH RECURSIVE going (tbl, key) AS (\(all))"
    }

    /// The queries for rows that the owner has, and for references between the leaving rows and the tree.
    private var ties: [String] {
        let theirs = """
            SELECT 1 FROM grdb_cloudkit_place p WHERE (p.tbl, p.key) IN going
                            AND (p.name IS NOT NULL OR p.share IS NOT NULL)
            """
        let references = catalog.tables.filter { !$0.isPublic }.flatMap { child in
            child.columns.compactMap(target).map { target in
                """
                SELECT 1 FROM \(child.name.quoted) x
                                JOIN grdb_cloudkit_place p ON p.zone = t.zone
                                AND p.tbl = \(child.name.literal) AND p.key = \(RowKey.sql(child, of: "x"))
                                JOIN grdb_cloudkit_place q ON q.zone = t.zone
                                AND q.tbl = \(target.table.literal) AND q.key = \(target.key)
                                WHERE ((p.tbl, p.key) IN going) <> ((q.tbl, q.key) IN going)
                """
            }
        }
        return [theirs] + references
    }

    /// Returns the table that a column of a row refers to, with the key.
    private func target(_ column: TableColumn) -> (table: String, key: String)? {
        guard let name = column.target, let target = catalog[name], !target.isPublic,
            let key = target.keyColumns.first
        else { return nil }
        return (target.name, RowKey.sql(of: "x.\(column.name.quoted)", key))
    }
}
