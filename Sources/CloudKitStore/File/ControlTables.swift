import GRDB

/// The store's own tables, in the app's file, with a common prefix.
enum ControlTables {
    /// The prefix of all tables, indexes and triggers of the store.
    ///
    /// GRDB ignores names that begin with `grdb_` when it compares a schema with the one of the
    /// migrations, so `eraseDatabaseOnSchemaChange` does not erase a database because of the store.
    static let prefix = "grdb_cloudkit_"

    /// The version of these tables; a file of a newer version is not opened.
    static let version = 5

    /// The SQL of the wall clock in microseconds, or of a test's clock.
    static let now =
        "coalesce(wall, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) * 1000"

    /// The tables of a new file.
    static let sql = """
        CREATE TABLE grdb_cloudkit_control (
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
            lastSync INTEGER,
            sharedEngine BLOB,
            words INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE grdb_cloudkit_table (
            name TEXT PRIMARY KEY,
            fingerprint TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE grdb_cloudkit_outbox (
            tbl TEXT NOT NULL,
            key TEXT NOT NULL,
            deleted INTEGER NOT NULL,
            changed TEXT NOT NULL,
            version INTEGER NOT NULL,
            since INTEGER NOT NULL,
            problem TEXT,
            PRIMARY KEY (tbl, key)
        );
        CREATE TABLE grdb_cloudkit_journal (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            time INTEGER NOT NULL,
            tbl TEXT NOT NULL,
            key TEXT NOT NULL,
            rule TEXT NOT NULL,
            side TEXT NOT NULL,
            lost BLOB NOT NULL,
            kept BLOB,
            zone TEXT
        );
        CREATE TABLE grdb_cloudkit_place (
            tbl TEXT NOT NULL,
            key TEXT NOT NULL,
            zone TEXT NOT NULL,
            name TEXT,
            parent TEXT,
            share TEXT,
            writes INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (tbl, key)
        ) WITHOUT ROWID;
        CREATE TABLE grdb_cloudkit_share (
            zone TEXT NOT NULL,
            name TEXT NOT NULL,
            writes INTEGER NOT NULL,
            PRIMARY KEY (zone, name)
        ) WITHOUT ROWID;
        CREATE TABLE grdb_cloudkit_public (
            tbl TEXT PRIMARY KEY,
            since INTEGER NOT NULL,
            swept INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE grdb_cloudkit_zone (
            zone TEXT PRIMARY KEY,
            sweeps INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        """

    /// The tables of records, which are as large as the rows: names in the form of ``StoredName``,
    /// keys of ``StoredKey``, fields of ``KnownFields``; tables and types are numbers of ``Words``.
    static let records = """
        CREATE TABLE grdb_cloudkit_word (
            id INTEGER PRIMARY KEY,
            text TEXT NOT NULL UNIQUE
        );
        CREATE TABLE grdb_cloudkit_record (
            name PRIMARY KEY NOT NULL,
            tbl INTEGER,
            key,
            type INTEGER NOT NULL,
            tag TEXT,
            system BLOB,
            base BLOB NOT NULL,
            waiting TEXT,
            goes INTEGER NOT NULL DEFAULT 0,
            problem TEXT,
            session INTEGER NOT NULL DEFAULT 0,
            zone TEXT NOT NULL DEFAULT '',
            lacks INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        CREATE TABLE grdb_cloudkit_sent (
            name PRIMARY KEY NOT NULL,
            fields BLOB NOT NULL,
            version INTEGER NOT NULL,
            entry INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// Names and last versions of deleted records, added after version 4; older code ignores the tables.
    static let additions = """
        CREATE TABLE IF NOT EXISTS grdb_cloudkit_gone (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE
        );
        CREATE TABLE IF NOT EXISTS grdb_cloudkit_deleted (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            zone TEXT NOT NULL,
            fields BLOB NOT NULL
        );
        """

    /// The indexes of these tables.
    static let indexes = """
        CREATE INDEX grdb_cloudkit_outbox_version ON grdb_cloudkit_outbox (version);
        CREATE INDEX grdb_cloudkit_place_parent ON grdb_cloudkit_place (zone, parent);
        """

    /// The indexes of the tables of records.
    static let recordIndexes = """
        CREATE INDEX grdb_cloudkit_record_waiting ON grdb_cloudkit_record (waiting)
            WHERE waiting IS NOT NULL;
        CREATE INDEX grdb_cloudkit_record_goes ON grdb_cloudkit_record (goes) WHERE goes <> 0;
        CREATE INDEX grdb_cloudkit_record_problem ON grdb_cloudkit_record (problem)
            WHERE problem IS NOT NULL;
        CREATE INDEX grdb_cloudkit_record_unknown ON grdb_cloudkit_record (type) WHERE tbl IS NULL;
        CREATE INDEX grdb_cloudkit_record_lacks ON grdb_cloudkit_record (lacks) WHERE lacks <> 0;
        """

    static func unknownVersion(_ found: Int?) -> CloudStoreError {
        CloudStoreError(
            .unreadableFile,
            "The file's control tables have the version \(found.map(String.init) ?? "none"), "
                + "this code knows \(version); update the app"
        )
    }

    /// Runs a closure that writes the server's changes, within a transaction: the store's triggers
    /// ignore them, and the app's triggers declared for it are suspended.
    static func applying<Value>(
        _ database: Database,
        _ catalog: TableCatalog,
        _ body: () throws -> Value
    ) throws -> Value {
        try AppTriggers.suspending(catalog.suspendedTriggers, in: database) {
            // If the closure throws, the flag is undone with the transaction.
            try database.run("UPDATE grdb_cloudkit_control SET applying = 1")
            let value = try body()
            try database.run("UPDATE grdb_cloudkit_control SET applying = 0")
            return value
        }
    }

    /// Runs a closure whose writes are this device's own edits, even while the server's changes are applied.
    static func asEdit<Value>(_ database: Database, _ body: () throws -> Value) throws -> Value {
        let isApplying = try Int.fetchOne(
            database.cachedStatement(sql: "SELECT applying FROM grdb_cloudkit_control")
        )
        // If the closure throws, the flag is undone with the transaction.
        try database.run("UPDATE grdb_cloudkit_control SET applying = 0")
        let value = try body()
        try database.run("UPDATE grdb_cloudkit_control SET applying = ?", [isApplying ?? 0])
        return value
    }
}
