import CloudKitServerCore
import GRDB

// A snapshot copies no contents: it records the content of each zone, and from then on the state of
// each row before its first change. A restore writes those back, so that its cost depends on the
// number of changes since. Each snapshot has its own tables, such as `snapshot7zone` for number 7.
extension SQLiteConnection {
    func snapshots(_ container: String) throws -> [StoredSnapshot] {
        try all(
            "SELECT name, created FROM snapshot WHERE container = ? ORDER BY name",
            [container]
        ) { StoredSnapshot(container: container, name: $0[0], created: $0[1]) }
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
        let rows = environments.map { String($0.rawValue) }.joined(separator: ", ")
        let databases = "SELECT id FROM database WHERE environment IN (\(rows))"
        for (table, condition) in [
            ("environment", "id IN (\(rows))"), ("database", "environment IN (\(rows))"),
            ("zone", "database IN (\(databases))"), ("document", "0"),
        ] {
            try makeSnapshot(id, of: table, where: condition)
        }
        for collection in collections {
            let (condition, arguments) = Self.documents(in: collection)
            try runOnce(
                "INSERT INTO snapshot\(id)document SELECT * FROM document WHERE " + condition,
                arguments
            )
        }
        try keepContents(of: id)
    }

    /// Adds a snapshot's table with some rows of another one.
    private func makeSnapshot(_ id: Int64, of table: String, where condition: String) throws {
        try runOnce(
            "CREATE TABLE snapshot\(id)\(table) AS SELECT * FROM \(table) WHERE \(condition)"
        )
    }

    /// Adds all tables of a snapshot, without rows.
    func makeSnapshotTables(_ id: Int64) throws {
        for table in ["environment", "database", "zone", "document"] {
            try makeSnapshot(id, of: table, where: "0")
        }
        try makeKept(by: id)
    }

    func restoreSnapshot(_ container: String, _ name: String) throws {
        guard let id = try snapshot(container, name) else {
            throw StorageError(.other, "No snapshot of that name")
        }
        for table in ["environment", "database"] { try putBack(table, from: id) }
        for table in ["zone", "document"] { try add(table, from: id) }
        try putBackContents(of: id)
        // Clients read the feed from the beginning.
        try runOnce(
            "DELETE FROM sighting WHERE zone IN (SELECT content FROM snapshot\(id)zone)"
        )
    }

    func removeSnapshot(_ container: String, _ name: String) throws {
        guard let id = try snapshot(container, name) else { return }
        try run("DELETE FROM snapshot WHERE id = ?", [id])
        try discard(
            """
            SELECT content FROM snapshot\(id)zone AS kept
            WHERE NOT EXISTS (SELECT 1 FROM zone WHERE zone.content = kept.content)
            """
        )
        try dropKept(by: id)
        for table in ["environment", "database", "zone", "document"] {
            try runOnce("DROP TABLE snapshot\(id)\(table)")
        }
    }

    /// Returns the tables with a given suffix of all snapshots.
    func snapshotTables(of table: String) throws -> [String] {
        try all("SELECT id FROM snapshot ORDER BY id") { row -> Int64 in row[0] }
            .map { "snapshot\($0)\(table)" }
    }

    func snapshot(_ container: String, _ name: String) throws -> Int64? {
        try first(
            "SELECT id FROM snapshot WHERE container = ? AND name = ?",
            [container, name]
        ) { $0[0] }
    }

    /// Restores the values of rows that still exist.
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

    /// Adds the rows of a snapshot.
    ///
    /// Columns are named, so that a snapshot that is older than a column leaves it at its default.
    private func add(_ table: String, from id: Int64) throws {
        let list = try columns(of: "snapshot\(id)\(table)").map(\.quoted).joined(separator: ", ")
        try runOnce("INSERT INTO \(table) (\(list)) SELECT \(list) FROM snapshot\(id)\(table)")
    }

    /// Returns the condition for documents in a collection or its subcollections.
    private static func documents(in collection: String) -> (String, [Argument]) {
        // The character after the slash ends the range of names that begin with it.
        (
            "(collection = ? OR (collection >= ? AND collection < ?))",
            [collection, collection + "/", collection + "0"]
        )
    }
}

extension String {
    /// The column name quoted for SQL.
    var quoted: String { "\"\(self)\"" }
}
