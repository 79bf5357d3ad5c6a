import CloudKit
import CloudKitStore
import GRDB

/// The tables of a converted database that hold the zones and states of its records.
struct StoreRecordTables {
    let database: Database

    func create() throws {
        try database.execute(
            sql: """
                CREATE TABLE app.\(RecordTableNames.zones) (
                    id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL,
                    scope TEXT
                );
                CREATE TABLE app.\(RecordTableNames.records) (
                    recordName TEXT NOT NULL, zone INTEGER REFERENCES \(RecordTableNames.zones) (id),
                    tableName TEXT NOT NULL, state TEXT NOT NULL,
                    PRIMARY KEY (recordName, zone)
                )
                """
        )
    }

    func insert(_ zones: [Int64: CoreDataMirror.Zone]) throws {
        for (key, zone) in zones {
            try database.execute(
                sql: "INSERT INTO app.\(RecordTableNames.zones) VALUES (?, ?, ?, ?)",
                arguments: [key, zone.name, zone.owner, zone.scope?.rawValue]
            )
        }
    }

    /// Returns the keys of the rows whose records are in zones in which the app shares, by zone and table; none for a
    /// database that was not converted.
    static func sharedRows(
        of database: any DatabaseReader
    ) throws -> [CKRecordZone.ID: [String: [String]]] {
        try database.read { database in
            guard try database.tableExists(RecordTableNames.zones),
                try database.tableExists(RecordTableNames.records)
            else {
                return [:]
            }
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT z.name, z.owner, r.tableName, r.recordName FROM \(RecordTableNames.records) r
                    JOIN \(RecordTableNames.zones) z ON z.id = r.zone
                    WHERE substr(z.name, 1, ?1) = ?2 AND r.state IN ('synced', 'changed', 'new')
                    """,
                arguments: [
                    CoreDataFormat.shareZonePrefix.count, CoreDataFormat.shareZonePrefix,
                ]
            )
            var found: [CKRecordZone.ID: [String: [String]]] = [:]
            while let row = try rows.next() {
                let zone = CKRecordZone.ID(zoneName: row[0], ownerName: row[1])
                found[zone, default: [:]][row[2], default: []].append(row[3])
            }
            return found
        }
    }

    /// Returns the changes in a converted database that the app had not sent, and notes that they are adopted; none
    /// for a database that was not converted.
    static func takeChanges(
        in database: Database,
        includesShared: Bool
    ) throws -> AdoptedChanges {
        var changes = AdoptedChanges()
        guard try database.tableExists(RecordTableNames.zones),
            try database.tableExists(RecordTableNames.records)
        else {
            return changes
        }
        // Without shared rows, what others share stays for a store that has them.
        let isMine = """
            (?1 OR zone IS NULL OR zone IN (SELECT id FROM \(RecordTableNames.zones) WHERE owner = ?2))
            """
        let arguments: StatementArguments = [includesShared, CKCurrentUserDefaultName]
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT recordName, tableName, state, z.name, z.owner FROM \(RecordTableNames.records)
                LEFT JOIN \(RecordTableNames.zones) z ON z.id = zone
                WHERE state IN ('changed', 'deleted', 'gone') AND \(isMine)
                ORDER BY tableName, recordName
                """,
            arguments: arguments
        )
        while let row = try rows.next() {
            let name: String? = row[3]
            let record = AdoptedChanges.Record(
                table: row[1],
                key: row[0],
                zoneID: name.map { CKRecordZone.ID(zoneName: $0, ownerName: row[4]) }
            )
            switch row[2] as String {
            case "changed": changes.edited.append(record)
            case "deleted": changes.deleted.append(record)
            default: changes.gone.append(record)
            }
        }
        try database.execute(
            sql: """
                UPDATE \(RecordTableNames.records) SET state = 'synced' WHERE state = 'changed' AND \(isMine)
                """,
            arguments: arguments
        )
        try database.execute(
            sql:
                "DELETE FROM \(RecordTableNames.records) WHERE state IN ('deleted', 'gone') AND \(isMine)",
            arguments: arguments
        )
        return changes
    }

    /// Returns the SQL of a record's zone, if the store has it.
    private static func zone(_ column: String) -> String {
        "(SELECT id FROM app.\(RecordTableNames.zones) WHERE id = \(column))"
    }

    /// Inserts the records of a table's rows, and those of deleted rows.
    ///
    /// - Parameters:
    ///   - table: The store's table.
    ///   - name: The database's table.
    ///   - names: The temporary table with the record names of the rows.
    ///   - deletesOthers: Whether records are to be deleted of which nothing says why they have no row.
    /// - Throws: An error of the database.
    func insertRows(
        of table: StoreLayout.Table,
        named name: String,
        _ names: String,
        deletesOthers: Bool
    ) throws {
        let isDeleted =
            deletesOthers
            ? "(m.state = 'deleted' OR \(MirrorReader.isUnexplained))" : "m.state = 'deleted'"
        try database.execute(
            sql: """
                INSERT INTO app.\(RecordTableNames.records)
                SELECT n.name, \(Self.zone("n.zone")), \(name.literal),
                    CASE n.state WHEN 'deleted' THEN 'changed' ELSE n.state END
                FROM temp.\(names.quotedName) n;
                INSERT OR IGNORE INTO app.\(RecordTableNames.records)
                SELECT m.name, \(Self.zone("m.zone")), \(name.literal), 'deleted'
                FROM temp.\(MirrorTables.records) m
                WHERE \(MirrorReader.withoutRow(table)) AND \(isDeleted)
                """
        )
    }

    /// Inserts the records of a relationship's links: those of existing links, of removed links,
    /// and duplicates.
    ///
    /// - Parameters:
    ///   - join: The store's table.
    ///   - table: The database's table.
    ///   - layout: The store's layout.
    ///   - deletesOthers: Whether records are to be deleted of which nothing says why they have no link.
    /// - Throws: An error of the database.
    func insertLinks(
        of join: StoreLayout.Join,
        in table: CoreDataTables.JoinTable,
        _ layout: StoreLayout,
        deletesOthers: Bool
    ) throws {
        let name = table.name
        let (owner, target) = (table.columns[1].name.quotedName, table.columns[2].name.quotedName)
        let (isOwn, isInverse) = MirrorReader.writers(join, layout)
        let isInTable =
            "EXISTS (SELECT 1 FROM app.\(name.quotedName) j WHERE j.recordName = l.name)"
        let isLinked = """
            EXISTS (SELECT 1 FROM app.\(name.quotedName) j WHERE
                (\(isOwn) AND j.\(owner) = l.source AND j.\(target) = l.target)
                OR (\(isInverse) AND j.\(owner) = l.target AND j.\(target) = l.source))
            """
        let isOther = deletesOthers ? MirrorReader.isUnexplainedLink : "false"
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO app.\(RecordTableNames.records)
                SELECT l.name, \(Self.zone("l.zone")), \(name.literal), CASE
                    WHEN l.state = 'deleted' THEN 'deleted'
                    WHEN \(isInTable) THEN l.state
                    WHEN \(isLinked) THEN 'duplicate' ELSE 'deleted' END
                FROM temp.\(MirrorTables.links) l
                WHERE (\(isOwn) OR \(isInverse))
                    AND (l.state = 'deleted' OR \(isInTable) OR \(isLinked) OR \(isOther));
                INSERT OR IGNORE INTO app.\(RecordTableNames.records)
                SELECT recordName, NULL, \(name.literal), 'new' FROM app.\(name.quotedName)
                WHERE recordName NOT IN (SELECT name FROM temp.\(MirrorTables.links))
                """
        )
    }
}
