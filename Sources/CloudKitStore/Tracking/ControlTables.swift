import GRDB

/// The tables that the store keeps beside the app's, in the same file, under one prefix.
enum ControlTables {
    /// The version of these tables; a file of a newer version is left alone.
    static let version = 3

    /// The wall clock in microseconds, or what a test says it is.
    static let now =
        "coalesce(wall, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) * 1000"

    /// The tables as version 1 had them.
    private static let sql = """
        CREATE TABLE cloudkit_control (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            version INTEGER NOT NULL,
            device TEXT NOT NULL,
            clock INTEGER NOT NULL DEFAULT 0,
            wall INTEGER,
            shift INTEGER NOT NULL DEFAULT 0,
            applying INTEGER NOT NULL DEFAULT 0,
            engine BLOB,
            account TEXT,
            zoneIsSaved INTEGER NOT NULL DEFAULT 0,
            blocked TEXT,
            session INTEGER NOT NULL DEFAULT 0,
            sweeps INTEGER NOT NULL DEFAULT 0,
            lastSync INTEGER
        );
        CREATE TABLE cloudkit_table (
            name TEXT PRIMARY KEY,
            fingerprint TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE cloudkit_outbox (
            tbl TEXT NOT NULL,
            key TEXT NOT NULL,
            deleted INTEGER NOT NULL,
            changed TEXT NOT NULL,
            version INTEGER NOT NULL,
            since INTEGER NOT NULL,
            problem TEXT,
            PRIMARY KEY (tbl, key)
        );
        CREATE TABLE cloudkit_record (
            name TEXT PRIMARY KEY,
            tbl TEXT,
            key TEXT,
            type TEXT NOT NULL,
            tag TEXT,
            system BLOB,
            base BLOB NOT NULL,
            sent BLOB,
            sentVersion INTEGER,
            sentEntry INTEGER,
            waiting TEXT,
            goes INTEGER NOT NULL DEFAULT 0,
            problem TEXT,
            session INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX cloudkit_record_waiting ON cloudkit_record (waiting) WHERE waiting IS NOT NULL;
        CREATE INDEX cloudkit_record_goes ON cloudkit_record (goes) WHERE goes <> 0;
        CREATE INDEX cloudkit_record_problem ON cloudkit_record (problem) WHERE problem IS NOT NULL;
        CREATE INDEX cloudkit_record_sent ON cloudkit_record (sentVersion)
            WHERE sentVersion IS NOT NULL;
        CREATE INDEX cloudkit_record_unknown ON cloudkit_record (type) WHERE tbl IS NULL;
        CREATE INDEX cloudkit_outbox_version ON cloudkit_outbox (version);
        CREATE TABLE cloudkit_journal (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            time INTEGER NOT NULL,
            tbl TEXT NOT NULL,
            key TEXT NOT NULL,
            rule TEXT NOT NULL,
            side TEXT NOT NULL,
            lost BLOB NOT NULL,
            kept BLOB
        );
        """

    /// What makes each version of the one before it.
    private static let upgrades = [
        // 2: rows that are shared, and the zones that others share.
        """
        ALTER TABLE cloudkit_control ADD COLUMN sharedEngine BLOB;
        ALTER TABLE cloudkit_record ADD COLUMN zone TEXT NOT NULL DEFAULT '';
        ALTER TABLE cloudkit_record ADD COLUMN lacks INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX cloudkit_record_lacks ON cloudkit_record (lacks) WHERE lacks <> 0;
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
        CREATE INDEX cloudkit_place_parent ON cloudkit_place (zone, parent);
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
        DROP INDEX cloudkit_record_sent;
        """,
    ]

    /// Makes the tables where they are missing, and brings those of older versions up to this one.
    ///
    /// - Throws: A ``CloudStoreError`` when they are of a version that this code does not know.
    static func install(in database: Database, device: String) throws {
        guard try database.tableExists("cloudkit_control") else {
            try database.execute(sql: sql)
            try database.execute(
                sql: "INSERT INTO cloudkit_control (id, version, device) VALUES (1, ?, ?)",
                arguments: [1, device]
            )
            return try upgrade(database, from: 1)
        }
        let found = try Int.fetchOne(database, sql: "SELECT version FROM cloudkit_control")
        guard let found, found <= version else {
            throw CloudStoreError(
                .unreadableFile,
                "The file's control tables have the version \(found.map(String.init) ?? "none"), "
                    + "this code knows \(version); update the app"
            )
        }
        // A process that ended while it applied changes rolled its transaction back, so that the
        // flag is clear; a file that was edited by hand may say otherwise.
        try database.execute(sql: "UPDATE cloudkit_control SET applying = 0 WHERE applying <> 0")
        try upgrade(database, from: found)
    }

    private static func upgrade(_ database: Database, from found: Int) throws {
        guard found < version else { return }
        for sql in upgrades[(found - 1)...] { try database.execute(sql: sql) }
        try database.execute(
            sql: "UPDATE cloudkit_control SET version = ?",
            arguments: [version]
        )
    }

    /// Runs a closure whose writes are the server's: the triggers let them pass.
    static func applying<Value>(_ database: Database, _ body: () throws -> Value) throws -> Value {
        try database.run("UPDATE cloudkit_control SET applying = 1")
        let value = try body()
        try database.run("UPDATE cloudkit_control SET applying = 0")
        return value
    }
}
