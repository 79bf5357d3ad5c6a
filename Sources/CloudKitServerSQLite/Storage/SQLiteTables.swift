import GRDB

/// The tables of the database, and the migrations of older databases.
enum SQLiteTables {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(sql: accounts)
            try database.execute(sql: zones)
            try database.execute(sql: records)
        }
        migrator.registerMigration("push") { database in
            try database.execute(sql: pushes)
        }
        migrator.registerMigration("zone lives and sizes") { database in
            try database.execute(sql: zoneColumns)
        }
        migrator.registerMigration("snapshots") { database in
            try database.execute(sql: snapshots)
        }
        migrator.registerMigration("tombstones") { database in
            try database.execute(sql: tombstones)
        }
        migrator.registerMigration("zone deletion reasons") { database in
            try database.execute(sql: deletionReason)
        }
        migrator.registerMigration("shares") { database in
            try database.execute(sql: shares)
        }
        migrator.registerMigration("checksums") { database in
            try database.execute(sql: checksums)
            try SQLiteConnection(database).addMissingChecksums()
        }
        migrator.registerMigration("circles of references") { database in
            try database.execute(sql: circles)
            try SQLiteConnection(database).addMissingCircles()
        }
        migrator.registerMigration("sightings") { database in
            try database.execute(sql: sightings)
        }
        migrator.registerMigration("contents") { database in
            try database.execute(sql: contents)
            try SQLiteConnection(database).convertSnapshots()
        }
        migrator.registerMigration("sizes of earlier zones") { database in
            try SQLiteConnection(database).addMissingSizes()
        }
        return migrator
    }

    private static let accounts = """
        CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE environment (
            id INTEGER PRIMARY KEY,
            container TEXT NOT NULL,
            kind TEXT NOT NULL,
            schemaVersion INTEGER NOT NULL,
            schema BLOB,
            UNIQUE (container, kind)
        );
        CREATE TABLE user (
            id INTEGER PRIMARY KEY,
            container TEXT NOT NULL,
            recordName TEXT NOT NULL,
            givenName TEXT,
            familyName TEXT,
            emailAddress TEXT,
            UNIQUE (container, recordName)
        );
        CREATE TABLE credential (
            kind INTEGER NOT NULL,
            hash BLOB NOT NULL,
            environment INTEGER NOT NULL,
            user INTEGER,
            companion BLOB,
            expires INTEGER,
            PRIMARY KEY (kind, hash)
        ) WITHOUT ROWID;
        CREATE TABLE document (
            collection TEXT NOT NULL,
            name TEXT NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (collection, name)
        ) WITHOUT ROWID;
        """

    // AUTOINCREMENT: a returned item keeps its place, so numbers must never be reused.
    private static let pushes = """
        CREATE TABLE push (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            queue BLOB NOT NULL,
            slot TEXT,
            body BLOB NOT NULL
        );
        CREATE INDEX pushByQueue ON push (queue, id);
        CREATE UNIQUE INDEX pushBySlot ON push (queue, slot) WHERE slot IS NOT NULL;
        """

    // An owner of 0 is no user: NULLs would not be unique. Change tokens name a zone by its row, so
    // the row of a deleted zone is never reused.
    private static let zones = """
        CREATE TABLE database (
            id INTEGER PRIMARY KEY,
            environment INTEGER NOT NULL,
            owner INTEGER NOT NULL,
            incarnation INTEGER NOT NULL,
            headSequence INTEGER NOT NULL,
            UNIQUE (environment, owner)
        );
        CREATE TABLE zone (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            name TEXT NOT NULL,
            incarnation INTEGER NOT NULL,
            headSequence INTEGER NOT NULL,
            changeSequence INTEGER NOT NULL,
            isDeleted INTEGER NOT NULL,
            UNIQUE (database, name)
        );
        CREATE INDEX zoneByChange ON zone (database, changeSequence);
        """

    private static let zoneColumns = """
        ALTER TABLE zone ADD COLUMN birthSequence INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zone ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
        """

    // Rowid tables with unique indexes write a fraction of what WITHOUT ROWID tables do when rows
    // are large; the narrow tables are better without a rowid.
    private static let records = """
        CREATE TABLE record (
            id INTEGER PRIMARY KEY,
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            sequence INTEGER NOT NULL,
            createdAt INTEGER NOT NULL,
            createdBy TEXT NOT NULL,
            modifiedAt INTEGER NOT NULL,
            modifiedBy TEXT NOT NULL,
            isDeleted INTEGER NOT NULL,
            parent TEXT,
            share TEXT,
            hasAssets INTEGER NOT NULL,
            extra BLOB,
            fields BLOB NOT NULL,
            UNIQUE (zone, name),
            UNIQUE (zone, sequence)
        );
        CREATE TABLE indexEntry (
            zone INTEGER NOT NULL,
            number INTEGER NOT NULL,
            key BLOB NOT NULL,
            record INTEGER NOT NULL,
            PRIMARY KEY (zone, number, key, record)
        ) WITHOUT ROWID;
        CREATE TABLE reference (
            zone INTEGER NOT NULL,
            target TEXT NOT NULL,
            kind INTEGER NOT NULL,
            source INTEGER NOT NULL,
            PRIMARY KEY (zone, target, kind, source)
        ) WITHOUT ROWID;
        CREATE INDEX referenceBySource ON reference (source);
        CREATE TABLE asset (
            checksum BLOB NOT NULL,
            record INTEGER NOT NULL,
            PRIMARY KEY (checksum, record)
        ) WITHOUT ROWID;
        CREATE INDEX assetByRecord ON asset (record);
        """

    // These indexes contain only records that are deleted or have a parent.
    private static let tombstones = """
        ALTER TABLE zone ADD COLUMN horizonSequence INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX tombstone ON record (modifiedAt) WHERE isDeleted;
        CREATE INDEX recordByParent ON record (zone, parent) WHERE parent IS NOT NULL;
        """

    // NULL if an app deleted the zone, or it was not deleted.
    private static let deletionReason = "ALTER TABLE zone ADD COLUMN deletionReason TEXT"

    // This index contains only the roots of shares.
    private static let shares = """
        CREATE INDEX recordByShare ON record (zone, share) WHERE share IS NOT NULL
        """

    private static let checksums = "ALTER TABLE record ADD COLUMN checksum INTEGER"

    // Empty except in public databases, where the deletion of a record reads only references from
    // its creator's records: others are elsewhere in the index, however many they are.
    private static let circles = """
        CREATE TABLE newReference (
            zone INTEGER NOT NULL,
            target TEXT NOT NULL,
            circle TEXT NOT NULL DEFAULT '',
            kind INTEGER NOT NULL,
            source INTEGER NOT NULL,
            PRIMARY KEY (zone, target, circle, kind, source)
        ) WITHOUT ROWID;
        INSERT INTO newReference (zone, target, kind, source)
        SELECT zone, target, kind, source FROM reference
        WHERE EXISTS (SELECT 1 FROM record WHERE id = source);
        DROP TABLE reference;
        ALTER TABLE newReference RENAME TO reference;
        CREATE INDEX referenceBySource ON reference (source);
        """

    // The zone column of records, index entries, references and sightings contains the zone's
    // content, which is unique; the number of a content is never reused.
    private static let contents = """
        CREATE TABLE content (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            isDiscarded INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX discardedContent ON content (id) WHERE isDiscarded;
        INSERT INTO content (id) SELECT id FROM zone;
        ALTER TABLE zone ADD COLUMN content INTEGER NOT NULL DEFAULT 0;
        UPDATE zone SET content = id;
        CREATE UNIQUE INDEX zoneByContent ON zone (content);
        """

    // A snapshot has none of these: clients read the feed from the beginning after it was restored.
    private static let sightings = """
        CREATE TABLE sighting (
            record INTEGER NOT NULL,
            viewer INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            PRIMARY KEY (record, viewer)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX sightingBySequence ON sighting (zone, viewer, sequence);
        """

    // The data of a snapshot is in tables of its own, which are created with it: see
    // SQLiteConnection+Snapshots and SQLiteConnection+Keeping.
    private static let snapshots = """
        CREATE TABLE snapshot (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            container TEXT NOT NULL,
            name TEXT NOT NULL,
            created INTEGER NOT NULL,
            UNIQUE (container, name)
        );
        """
}
