import GRDB

/// Brings the control tables of older versions up to version 4.
enum ControlTableUpgrades {
    /// The table that says what version of 1 to 3 a file has.
    static let control = "cloudkit_control"

    /// What makes versions 2 and 3 of the one before.
    private static let upgrades = [
        // 2: rows that are shared, and the zones that others share.
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
        // 3: saves that were not answered, in a table of their own. Their old columns stay, and are
        // NULL: SQLite drops none where the app has a view or trigger that does not compile.
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

    /// 4: everything has a name that GRDB passes over.
    ///
    /// The triggers of the store are made again. Those of the app that ask whether the store writes
    /// ask the renamed table from now on: SQLite would rewrite them, but renames nothing where the app
    /// has a view that does not compile.
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

    private static func isOurs(_ trigger: String) -> Bool {
        ["insert", "update", "rekey", "delete", "share"].contains {
            trigger.hasPrefix("cloudkit_\($0)_")
        }
    }
}
