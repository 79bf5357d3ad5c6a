import Foundation
import GRDB

extension ControlTables {
    /// Creates missing tables, and upgrades those of older versions.
    ///
    /// - Returns: Whether the file had none, and whether it had those of an older version.
    /// - Throws: A ``CloudStoreError`` when they have a version that this code does not know.
    static func install(
        in database: Database,
        device: String
    ) throws -> (isNew: Bool, isUpgraded: Bool) {
        if try database.tableExists(ControlTableUpgrades.control) {
            try ControlTableUpgrades.run(in: database)
        }
        guard try database.tableExists("grdb_cloudkit_control") else {
            try database.execute(sql: sql + additions + records + indexes + recordIndexes)
            try database.execute(
                sql: "INSERT INTO grdb_cloudkit_control (id, version, device) VALUES (1, ?, ?)",
                arguments: [version, device]
            )
            return (true, false)
        }
        let found = try Int.fetchOne(database, sql: "SELECT version FROM grdb_cloudkit_control")
        guard let found, found <= version else { throw unknownVersion(found) }
        if found == 4 { try ControlTableUpgrades.compactRecords(in: database) }
        try database.execute(sql: additions)
        // Added after version 5; older code leaves it NULL.
        let journal = try database.columns(in: "grdb_cloudkit_journal")
        if !journal.contains(where: { $0.name == "zone" }) {
            try database.execute(sql: "ALTER TABLE grdb_cloudkit_journal ADD COLUMN zone TEXT")
        }
        // A process that ended while it applied changes rolled its transaction back, so the flag is
        // clear; only a file that was edited by hand may differ.
        try database.execute(
            sql: "UPDATE grdb_cloudkit_control SET applying = 0 WHERE applying <> 0"
        )
        return (false, found == 4)
    }
}

/// The upgrades of control tables of older versions.
enum ControlTableUpgrades {
    /// The table that holds the version of a file of versions 1 to 3.
    static let control = "cloudkit_control"

    /// The statements that upgrade to versions 2 and 3.
    private static let upgrades = [
        // 2: shared rows, and the zones that others share.
        """
        ALTER TABLE cloudkit_control ADD COLUMN sharedEngine BLOB;
        ALTER TABLE cloudkit_record ADD COLUMN zone TEXT NOT NULL DEFAULT '';
        ALTER TABLE cloudkit_record ADD COLUMN lacks INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE cloudkit_place (
            tbl TEXT NOT NULL,
            key TEXT NOT NULL,
            zone TEXT NOT NULL,
            name TEXT,
            parent TEXT,
            share TEXT,
            writes INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (tbl, key)
        ) WITHOUT ROWID;
        CREATE TABLE cloudkit_share (
            zone TEXT NOT NULL,
            name TEXT NOT NULL,
            writes INTEGER NOT NULL,
            PRIMARY KEY (zone, name)
        ) WITHOUT ROWID;
        CREATE TABLE cloudkit_public (
            tbl TEXT PRIMARY KEY,
            since INTEGER NOT NULL,
            swept INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE cloudkit_zone (
            zone TEXT PRIMARY KEY,
            sweeps INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        """,
        // 3: saves without a response, in their own table. Their old columns stay and are NULL:
        // SQLite drops none if the app has a view or trigger that does not compile.
        """
        CREATE TABLE cloudkit_sent (
            name TEXT PRIMARY KEY,
            fields BLOB NOT NULL,
            version INTEGER NOT NULL,
            entry INTEGER NOT NULL
        ) WITHOUT ROWID;
        INSERT INTO cloudkit_sent SELECT name, sent, sentVersion, sentEntry FROM cloudkit_record
            WHERE sent IS NOT NULL AND sentVersion IS NOT NULL AND sentEntry IS NOT NULL;
        UPDATE cloudkit_record SET sent = NULL, sentVersion = NULL, sentEntry = NULL
            WHERE sent IS NOT NULL;
        """,
    ]

    /// The tables of version 3.
    private static let tables = [
        "control", "table", "outbox", "record", "journal", "place", "share", "public", "zone",
        "sent",
    ].map { "cloudkit_" + $0 }

    static func run(in database: Database) throws {
        let found = try Int.fetchOne(database, sql: "SELECT version FROM cloudkit_control")
        guard let found, (1...3).contains(found) else {
            throw ControlTables.unknownVersion(found)
        }
        for sql in upgrades[(found - 1)...] { try database.execute(sql: sql) }
        try rename(in: database)
        try database.execute(sql: "UPDATE grdb_cloudkit_control SET version = 4")
    }

    /// Upgrades to version 4: every name has a prefix that GRDB ignores.
    ///
    /// The store's triggers are created again. The app's triggers that check whether the store
    /// writes now check the renamed table: SQLite could rewrite them, but renames nothing if the
    /// app has a view that does not compile.
    private static func rename(in database: Database) throws {
        let triggers = try Row.fetchAll(
            database,
            sql: """
                SELECT name, sql FROM sqlite_master
                WHERE type = 'trigger' AND instr(sql, 'cloudkit_control')
                """
        ).map { (name: $0["name"] as String, sql: $0["sql"] as String) }
        for trigger in triggers {
            try database.execute(sql: "DROP TRIGGER \(trigger.name.quoted)")
        }
        for index in try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL
                    AND tbl_name IN (\(tables.map(\.literal).joined(separator: ", ")))
                """
        ) {
            try database.execute(sql: "DROP INDEX \(index.quoted)")
        }
        try database.with("legacy_alter_table", atLeast: 1) {
            for table in tables {
                try database.execute(sql: "ALTER TABLE \(table) RENAME TO grdb_\(table)")
            }
        }
        try database.execute(sql: ControlTables.indexes)
        for trigger in triggers where !isOurs(trigger.name) {
            let sql = trigger.sql.replacing("cloudkit_control", with: "grdb_cloudkit_control")
            try database.execute(sql: sql)
        }
    }

    /// Upgrades to version 5: records take a fraction of their former size.
    ///
    /// The values that rows hold are removed later, when the tables are known: see
    /// ``KnownRecord/keepOnce(_:_:)``.
    static func compactRecords(in database: Database) throws {
        // An index keeps its name when its table is renamed, and the new table needs the names.
        for index in ["waiting", "goes", "problem", "unknown", "lacks"] {
            try database.execute(sql: "DROP INDEX IF EXISTS grdb_cloudkit_record_\(index)")
        }
        let sent = try Row.fetchAll(
            database,
            sql: "SELECT name, fields, version, entry FROM grdb_cloudkit_sent"
        )
        try database.execute(sql: "DROP TABLE grdb_cloudkit_sent")
        try database.with("legacy_alter_table", atLeast: 1) {
            try database.execute(
                sql: "ALTER TABLE grdb_cloudkit_record RENAME TO grdb_cloudkit_record4"
            )
        }
        try database.execute(
            sql: ControlTables.records
                + """
                ALTER TABLE grdb_cloudkit_control ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
                UPDATE grdb_cloudkit_control SET version = 5;
                """
        )
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT name, tbl, key, type, tag, system, base, waiting, goes, problem, session,
                    zone, lacks
                FROM grdb_cloudkit_record4 ORDER BY name
                """
        )
        while let row = try rows.next() { try KnownRecord(version4: row).save(database) }
        for row in sent {
            try database.execute(
                sql: "INSERT INTO grdb_cloudkit_sent VALUES (?, ?, ?, ?)",
                arguments: [
                    StoredName.value(row["name"]), row["fields"] as Data, row["version"] as Int64,
                    row["entry"] as Int64,
                ]
            )
        }
        try database.execute(
            sql: "DROP TABLE grdb_cloudkit_record4;" + ControlTables.recordIndexes
        )
    }

    private static func isOurs(_ trigger: String) -> Bool {
        ["insert", "update", "rekey", "delete", "share"].contains {
            trigger.hasPrefix("cloudkit_\($0)_")
        }
    }
}

extension KnownRecord {
    /// Creates a record from a row of version 4.
    fileprivate init(version4 row: Row) throws {
        let key: RowKey? =
            if let table: String = row["tbl"], let text: String = row["key"] {
                RowKey(table: table, text: text)
            } else {
                nil
            }
        self.init(name: row["name"], key: key, type: row["type"], zone: row["zone"])
        tag = row["tag"]
        system = row["system"]
        if let record = archived() { system = RecordArchive.data(record) }
        base = KnownFields(try FieldCoding.fields(row["base"]))
        waiting = row["waiting"]
        goes = row["goes"]
        problem = row["problem"]
        session = row["session"]
        lacks = row["lacks"]
    }

    /// Removes from all records the values that their rows hold.
    static func keepOnce(_ database: Database, _ mapping: RowMapping) throws {
        let rows = RowStore(database: database, mapping: mapping)
        let names = try DatabaseValue.fetchAll(
            database,
            sql: "SELECT name FROM grdb_cloudkit_record WHERE tbl IS NOT NULL AND zone = ''"
        )
        for name in names.map(StoredName.text) {
            guard let known = try KnownRecord.fetch(database, name: name), let key = known.key,
                let table = mapping.catalog[key.table], let row = try rows.row(key, table)
            else { continue }
            try known.save(database, row: mapping.fields(row, table), table)
        }
    }
}
