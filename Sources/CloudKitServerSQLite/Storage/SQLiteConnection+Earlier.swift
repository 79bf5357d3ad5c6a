import CloudKitServerCore
import GRDB

// Data that databases of earlier formats lack, added when they are opened.
extension SQLiteConnection {
    /// Adds the checksums of rows that have none.
    func addMissingChecksums() throws {
        let rows = try all(Self.selectRecord + " WHERE checksum IS NULL", []) { row in
            let record = Self.record(row, RowID(rawValue: row[1]))
            return (record.id.rawValue, record.checksum)
        }
        for (id, checksum) in rows {
            try run("UPDATE record SET checksum = ? WHERE id = ?", [checksum, id], to: .contents)
        }
    }

    /// Adds the circles of references in public databases that have none: their records' creators.
    ///
    /// - Parameter zones: A query of the zones of public databases, as references name them.
    /// - Throws: An error of SQLite.
    func addMissingCircles(
        in zones: String = """
        SELECT zone.id FROM zone JOIN database ON database.id = zone.database
        WHERE database.owner = 0
        """
    ) throws {
        try runOnce(
            """
            UPDATE reference
            SET circle = coalesce((SELECT createdBy FROM record WHERE id = source), '')
            WHERE circle = '' AND zone IN (\(zones))
            """
        )
    }

    /// Adds the byte counts of zones that are older than the count.
    func addMissingSizes() throws {
        let zones = try all("SELECT id, content FROM zone WHERE bytes = 0") { row in
            (id: row[0] as Int64, content: row[1] as Int64)
        }
        for zone in zones {
            let sizes = try all(Self.selectRecord + " WHERE zone = ?", [zone.content]) { row in
                Self.record(row, RowID(rawValue: zone.id)).storedBytes
            }
            let bytes = sizes.reduce(0, +)
            if bytes > 0 {
                try runOnce("UPDATE zone SET bytes = ? WHERE id = ?", [bytes, zone.id])
            }
        }
    }

    /// Turns the row copies of snapshots, such as `snapshot7record` for number 7, into contents.
    func convertSnapshots() throws {
        for row in try rows("SELECT id FROM snapshot ORDER BY id") {
            guard let id = Int64.fromDatabaseValue(row[0]) else { continue }
            try convertSnapshot(id)
        }
        try addMissingChecksums()
    }

    private func convertSnapshot(_ id: Int64) throws {
        try runOnce("ALTER TABLE snapshot\(id)zone ADD COLUMN content INTEGER")
        for zone in try rows("SELECT id FROM snapshot\(id)zone ORDER BY id") {
            try runOnce(
                "UPDATE snapshot\(id)zone SET content = \(try addContent()) WHERE id = ?",
                zone
            )
        }
        // Other records have taken the rows meanwhile.
        let shift = """
            (SELECT max(0, coalesce((SELECT max(id) FROM record), 0) + 1
                - coalesce((SELECT min(id) FROM snapshot\(id)record), 1)))
            """
        let numbers = try rows("SELECT \(shift)")
        for (table, column) in [
            ("record", "id"), ("indexEntry", "record"), ("reference", "source"),
            ("asset", "record"),
        ] {
            try add(table, from: id, moving: column, by: numbers[0])
        }
        try addMissingCircles(
            in: """
                SELECT content FROM snapshot\(id)zone AS kept
                JOIN snapshot\(id)database AS owned ON owned.id = kept.database
                WHERE owned.owner = 0
                """
        )
        for table in ["record", "indexEntry", "reference", "asset"] {
            try runOnce("DROP TABLE snapshot\(id)\(table)")
        }
        try keepContents(of: id)
    }

    /// Adds a snapshot's row copies to the contents of its zones, increasing the numbers of records.
    private func add(
        _ table: String,
        from id: Int64,
        moving recordColumn: String,
        by shift: [DatabaseValue]
    ) throws {
        let copy = "snapshot\(id)\(table)"
        let columns = try columns(of: copy)
        let values = columns.map { column in
            switch column {
            case recordColumn: "\(column) + ?"
            case "zone": "(SELECT content FROM snapshot\(id)zone AS kept WHERE kept.id = zone)"
            default: column.quoted
            }
        }
        try runOnce(
            """
            INSERT INTO \(table) (\(columns.map(\.quoted).joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM \(copy)
            """,
            shift
        )
    }
}
