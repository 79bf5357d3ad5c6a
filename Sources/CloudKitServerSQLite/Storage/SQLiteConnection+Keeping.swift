import GRDB

// How snapshots preserve the contents of their zones: triggers save the state of each row before
// its first change after the snapshot, or the fact that it did not exist. They exist as long as
// their snapshot and apply to every statement, so that code that writes need not know about
// snapshots.
extension SQLiteConnection {
    /// A table whose rows belong to a content.
    private struct Table: Sendable {
        var name: String
        var key: [String]
        /// The content of a row, which is `NEW` or `OLD`.
        var content: @Sendable (String) -> String = { "\($0).zone" }

        /// The tables, in the order in which rows are added: an asset's content is that of its record.
        static let all = [
            Table(name: "record", key: ["id"]),
            Table(name: "indexEntry", key: ["zone", "number", "key", "record"]),
            Table(name: "reference", key: ["zone", "target", "circle", "kind", "source"]),
            Table(name: "asset", key: ["checksum", "record"]) { row in
                "(SELECT zone FROM record WHERE id = \(row).record)"
            },
        ]
    }

    /// Returns the columns by which the rows of a table differ from each other.
    func key(ofKept table: String) -> [String] {
        Table.all.first { $0.name == table }?.key ?? []
    }

    /// Begins to preserve a snapshot's current contents.
    func keepContents(of snapshot: Int64) throws {
        try makeKept(by: snapshot)
        try beginToKeep(by: snapshot)
    }

    /// Adds the tables with the rows that a snapshot preserves.
    func makeKept(by snapshot: Int64) throws {
        try runOnce("CREATE INDEX snapshot\(snapshot)content ON snapshot\(snapshot)zone (content)")
        for table in Table.all {
            let kept = "snapshot\(snapshot)\(table.name)"
            try runOnce(
                "CREATE TABLE \(kept) AS SELECT *, 0 AS wasThere FROM \(table.name) WHERE 0"
            )
            try runOnce(
                "CREATE UNIQUE INDEX \(kept)Key ON \(kept) (\(table.key.joined(separator: ", ")))"
            )
        }
    }

    /// Begins to preserve all rows of a snapshot that change from now on.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot, which has its tables.
    ///   - number: A number that is higher than those of its records; nil for one after all records.
    /// - Throws: An error of SQLite.
    func beginToKeep(by snapshot: Int64, number: Int64? = nil) throws {
        for table in Table.all {
            for sql in try triggers(table, snapshot) { try runOnce(sql) }
        }
        // SQLite numbers a record after the highest number: as this one stays, in no zone, no
        // number of the snapshot is reused.
        try run(
            """
            INSERT INTO record (id, zone, name, type, sequence, createdAt, createdBy, modifiedAt,
                modifiedBy, isDeleted, hasAssets, fields)
            VALUES (?, 0, ?, '', ?, 0, '', 0, '', 0, 0, x'')
            """,
            [number, "snapshot\(snapshot)", snapshot],
            to: .contents
        )
    }

    /// Turns all rows of a snapshot, which its tables hold, into those that differ from the rows of now.
    func keepDifferences(of snapshot: Int64) throws {
        let zones = "SELECT content FROM snapshot\(snapshot)zone"
        for table in Table.all {
            let kept = "snapshot\(snapshot)\(table.name)"
            let key = table.key.map(\.quoted)
            try runOnce(
                """
                INSERT OR IGNORE INTO \(kept) (\(key.joined(separator: ", ")), wasThere)
                SELECT \(key.map { "row.\($0)" }.joined(separator: ", ")), 0
                FROM \(table.name) AS row WHERE \(table.content("row")) IN (\(zones))
                """
            )
            let same = try columns(of: table.name).map { "row.\($0.quoted) IS kept.\($0.quoted)" }
            try runOnce(
                """
                DELETE FROM \(kept) AS kept WHERE wasThere AND EXISTS (
                    SELECT 1 FROM \(table.name) AS row
                    WHERE \(key.map { "row.\($0) = kept.\($0)" }.joined(separator: " AND "))
                        AND \(same.joined(separator: " AND "))
                )
                """
            )
        }
    }

    /// Restores a snapshot's contents.
    func putBackContents(of snapshot: Int64) throws {
        // An asset's content is that of its record, so assets are deleted first and inserted last.
        for table in Table.all.reversed() {
            // Each row by its complete key: SQLite would read all rows with the same prefix.
            let list = table.key.joined(separator: ", ")
            let condition = table.key.map { "\($0) = ?" }.joined(separator: " AND ")
            for key in try rows("SELECT \(list) FROM snapshot\(snapshot)\(table.name)") {
                try run("DELETE FROM \(table.name) WHERE \(condition)", key, to: .contents)
            }
        }
        for table in Table.all {
            let kept = "snapshot\(snapshot)\(table.name)"
            let list = try columns(of: kept).filter { $0 != "wasThere" }.map(\.quoted)
                .joined(separator: ", ")
            try runOnce(
                "INSERT INTO \(table.name) (\(list)) SELECT \(list) FROM \(kept) WHERE wasThere"
            )
        }
        for table in Table.all { try runOnce("DELETE FROM snapshot\(snapshot)\(table.name)") }
    }

    /// Ends the preservation of a snapshot.
    func dropKept(by snapshot: Int64) throws {
        for table in Table.all {
            for event in ["Insert", "Update", "Delete"] {
                try runOnce("DROP TRIGGER snapshot\(snapshot)\(table.name)\(event)")
            }
            try runOnce("DROP TABLE snapshot\(snapshot)\(table.name)")
        }
        try run(
            "DELETE FROM record WHERE zone = 0 AND name = ?",
            ["snapshot\(snapshot)"],
            to: .contents
        )
    }

    private func triggers(_ table: Table, _ snapshot: Int64) throws -> [String] {
        let kept = "snapshot\(snapshot)\(table.name)"
        let all = try columns(of: table.name)
        func keep(_ columns: [String], of row: String, wasThere: Bool) -> String {
            let values = columns.map { "\(row).\($0.quoted)" } + [wasThere ? "1" : "0"]
            let list = columns.map(\.quoted) + ["wasThere"]
            // Only the state before the first change is kept.
            return "INSERT OR IGNORE INTO \(kept) (\(list.joined(separator: ", "))) "
                + "VALUES (\(values.joined(separator: ", ")));"
        }
        func trigger(_ event: String, _ row: String, _ statements: [String]) -> String {
            """
            CREATE TRIGGER \(kept)\(event) AFTER \(event) ON \(table.name)
            WHEN \(table.content(row)) IN (SELECT content FROM snapshot\(snapshot)zone)
            BEGIN \(statements.joined(separator: " ")) END
            """
        }
        let old = keep(all, of: "OLD", wasThere: true)
        let new = keep(table.key, of: "NEW", wasThere: false)
        return [
            trigger("Insert", "NEW", [new]), trigger("Update", "OLD", [old, new]),
            trigger("Delete", "OLD", [old]),
        ]
    }
}
