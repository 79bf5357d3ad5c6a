import CloudKitServerCore
import GRDB

// A snapshot is a copy of rows into tables of its own, `snapshot7record` for one of number 7, made
// and read back by SQLite alone. Columns are named when rows come back, so a snapshot that is older
// than a column leaves it at its default.
extension SQLiteConnection {
    func snapshots(_ container: String) throws -> [StoredSnapshot] {
        try all(
            "SELECT name, created FROM snapshot WHERE container = ? ORDER BY name",
            [container]
        ) { StoredSnapshot(container: container, name: $0[0], created: $0[1]) }
    }

    func removeZones(of environment: RowID<StoredEnvironment>) throws {
        let scope = Scope([environment])
        for table in ["asset", "reference", "indexEntry", "sighting", "record", "zone"] {
            try runOnce("DELETE FROM \(table) WHERE \(scope.condition(table))")
        }
        try run(
            "UPDATE database SET headSequence = 0 WHERE environment = ?",
            [environment.rawValue]
        )
    }

    func removeSchema(of environment: RowID<StoredEnvironment>) throws {
        try run(
            "UPDATE environment SET schemaVersion = 0, schema = NULL WHERE id = ?",
            [environment.rawValue]
        )
    }

    func removeDocuments(in collections: [String]) throws {
        for collection in collections {
            let (condition, arguments) = Self.documents(in: collection)
            try run("DELETE FROM document WHERE " + condition, arguments)
        }
    }

    func addSnapshot(
        _ snapshot: StoredSnapshot,
        of environments: [RowID<StoredEnvironment>],
        documents collections: [String]
    ) throws {
        try removeSnapshot(snapshot.container, snapshot.name)
        let id = try insert(
            "INSERT INTO snapshot (container, name, created) VALUES (?, ?, ?)",
            [snapshot.container, snapshot.name, snapshot.created]
        )
        let scope = Scope(environments)
        for table in Scope.tables {
            try runOnce(
                """
                CREATE TABLE snapshot\(id)\(table) AS
                SELECT * FROM \(table) WHERE \(scope.condition(table))
                """
            )
        }
        try runOnce("CREATE TABLE snapshot\(id)document AS SELECT * FROM document WHERE 0")
        for collection in collections {
            let (condition, arguments) = Self.documents(in: collection)
            try runOnce(
                "INSERT INTO snapshot\(id)document SELECT * FROM document WHERE " + condition,
                arguments
            )
        }
    }

    func restoreSnapshot(_ container: String, _ name: String) throws {
        guard let id = try snapshot(container, name) else {
            throw StorageError(.other, "No snapshot of that name")
        }
        for table in ["environment", "database"] { try putBack(table, from: id) }
        // Others may have taken the records' rows meanwhile.
        let first = try number("SELECT min(id) FROM snapshot\(id)record") ?? 1
        let free = (try number("SELECT max(id) FROM record") ?? 0) + 1
        let shift = max(0, free - first)
        for table in ["zone", "record", "indexEntry", "reference", "asset", "document"] {
            try add(table, from: id, shift: shift)
        }
        if try !columns(of: "snapshot\(id)reference").contains("circle") {
            try addMissingCircles()
        }
        if try !columns(of: "snapshot\(id)record").contains("checksum") {
            try addMissingChecksums()
        }
    }

    func removeSnapshot(_ container: String, _ name: String) throws {
        guard let id = try snapshot(container, name) else { return }
        for table in Scope.tables + ["document"] {
            try runOnce("DROP TABLE snapshot\(id)\(table)")
        }
        try run("DELETE FROM snapshot WHERE id = ?", [id])
    }

    /// The copies of a table in all snapshots.
    func snapshotTables(of table: String) throws -> [String] {
        try all("SELECT id FROM snapshot ORDER BY id") { row -> Int64 in row[0] }
            .map { "snapshot\($0)\(table)" }
    }

    private func snapshot(_ container: String, _ name: String) throws -> Int64? {
        try first(
            "SELECT id FROM snapshot WHERE container = ? AND name = ?",
            [container, name]
        ) { $0[0] }
    }

    /// Gives rows that are still there the values that they had.
    private func putBack(_ table: String, from id: Int64) throws {
        let columns = try columns(of: "snapshot\(id)\(table)").filter { $0 != "id" }
        let list = columns.map(\.quoted).joined(separator: ", ")
        try runOnce(
            """
            UPDATE \(table)
            SET (\(list)) = (SELECT \(list) FROM snapshot\(id)\(table) AS old
                WHERE old.id = \(table).id)
            WHERE id IN (SELECT id FROM snapshot\(id)\(table))
            """
        )
    }

    /// Adds the rows that a snapshot has; numbers of records grow by a shift.
    private func add(_ table: String, from id: Int64, shift: Int64) throws {
        let columns = try columns(of: "snapshot\(id)\(table)")
        let recordColumn = [
            "record": "id", "indexEntry": "record", "reference": "source", "asset": "record",
        ][table]
        let values = columns.map { $0 == recordColumn ? "\($0.quoted) + \(shift)" : $0.quoted }
        try runOnce(
            """
            INSERT INTO \(table) (\(columns.map(\.quoted).joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM snapshot\(id)\(table)
            """
        )
    }

    /// Which documents are in a collection or below it.
    private static func documents(in collection: String) -> (String, [Argument]) {
        // The character behind the slash ends the range of names that start with it.
        (
            "(collection = ? OR (collection >= ? AND collection < ?))",
            [collection, collection + "/", collection + "0"]
        )
    }

    /// The rows that belong to some environments, table by table.
    private struct Scope {
        static let tables = [
            "environment", "database", "zone", "record", "indexEntry", "reference", "asset",
        ]

        private let environments: String

        init(_ environments: [RowID<StoredEnvironment>]) {
            self.environments = environments.map { String($0.rawValue) }.joined(separator: ", ")
        }

        func condition(_ table: String) -> String {
            let databases = "SELECT id FROM database WHERE environment IN (\(environments))"
            let zones = "SELECT id FROM zone WHERE database IN (\(databases))"
            return switch table {
            case "environment": "id IN (\(environments))"
            case "database": "environment IN (\(environments))"
            case "zone": "database IN (\(databases))"
            case "asset": "record IN (SELECT id FROM record WHERE zone IN (\(zones)))"
            default: "zone IN (\(zones))"
            }
        }
    }
}

extension String {
    /// A column's name that SQL takes whatever it is.
    fileprivate var quoted: String { "\"\(self)\"" }
}
