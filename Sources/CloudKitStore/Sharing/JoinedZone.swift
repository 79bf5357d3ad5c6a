import GRDB

/// The zone that another user shares as a whole, which receives new rows that are below no other.
enum JoinedZone {
    /// Returns the SQL of the zone's name; NULL if there is none that may be written, or if the row
    /// is below another.
    static func sql(_ table: TableSchema) -> String {
        guard !table.isPublic, table.format == nil, table.name != SharedJournal.table else {
            return "NULL"
        }
        let isTop = table.parentColumn.map { "NEW.\($0.name.quoted) IS NULL" } ?? "true"
        return """
            (SELECT zone FROM grdb_cloudkit_share WHERE name = 'cloudkit.zoneshare' AND writes <> 0
                    AND zone <> '' AND \(isTop) ORDER BY zone LIMIT 1)
            """
    }

    /// Returns whether another user shares a zone as a whole.
    static func isShared(_ zone: StoreZone, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_share
                    WHERE zone = ? AND name = 'cloudkit.zoneshare')
                """,
            arguments: [zone]
        ) ?? false
    }

    /// Returns the statement that puts a new row into the zone, unless it has a place.
    static func join(_ table: TableSchema) -> String {
        """
        INSERT INTO grdb_cloudkit_place (tbl, key, zone, writes)
                SELECT \(table.name.literal), \(RowKey.sql(table, of: "NEW")), zone, 1
                FROM (SELECT \(sql(table)) AS zone) WHERE zone IS NOT NULL
                ON CONFLICT (tbl, key) DO NOTHING;
        """
    }
}
