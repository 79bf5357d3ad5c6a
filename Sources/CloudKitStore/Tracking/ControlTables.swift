import GRDB

/// The tables that the store keeps beside the app's, in the same file, under one prefix.
enum ControlTables {
    /// Begins the names of all tables, indexes and triggers of the store.
    ///
    /// GRDB passes over names that begin with `grdb_` when it looks whether a schema is another than
    /// the migrations make, so that `eraseDatabaseOnSchemaChange` erases no database because of the
    /// store.
    static let prefix = "grdb_cloudkit_"

    /// The version of these tables; a file of a newer version is left alone.
    static let version = 5

    /// The wall clock in microseconds, or what a test says it is.
    static let now =
        "coalesce(wall, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) * 1000"

    /// The tables of a new file.
    private static let sql = """
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
            kept BLOB
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

    /// The tables of records, which are as large as the rows: names as ``StoredName`` has them, keys as
    /// ``StoredKey``, fields as ``KnownFields``, tables and types as numbers of ``Words``.
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

    /// Names of records that were deleted, which came later than version 4; older code leaves it alone.
    private static let additions = """
        CREATE TABLE IF NOT EXISTS grdb_cloudkit_gone (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE
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

    /// Makes the tables where they are missing, and brings those of older versions up to this one.
    ///
    /// - Returns: Whether the file had none, and whether it had those of an older version.
    /// - Throws: A ``CloudStoreError`` when they are of a version that this code does not know.
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
        // A process that ended while it applied changes rolled its transaction back, so that the
        // flag is clear; a file that was edited by hand may say otherwise.
        try database.execute(
            sql: "UPDATE grdb_cloudkit_control SET applying = 0 WHERE applying <> 0"
        )
        return (false, found == 4)
    }

    static func unknownVersion(_ found: Int?) -> CloudStoreError {
        CloudStoreError(
            .unreadableFile,
            "The file's control tables have the version \(found.map(String.init) ?? "none"), "
                + "this code knows \(version); update the app"
        )
    }

    /// Runs a closure whose writes are the server's, within a transaction: the store's triggers let
    /// them pass, and those of the app that are to be suspended are.
    static func applying<Value>(
        _ database: Database,
        _ catalog: TableCatalog,
        _ body: () throws -> Value
    ) throws -> Value {
        try AppTriggers.suspending(catalog.suspendedTriggers, in: database) {
            try database.run("UPDATE grdb_cloudkit_control SET applying = 1")
            let value = try body()
            try database.run("UPDATE grdb_cloudkit_control SET applying = 0")
            return value
        }
    }
}
