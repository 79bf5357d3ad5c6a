import GRDB

/// The tables of the file, and how older files become newer ones.
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

    // AUTOINCREMENT: an item that is put back keeps its place, so numbers are never used again.
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

    // An owner of 0 is nobody: NULLs would not be unique. Change tokens name a zone by its row, so the
    // row of a zone that is gone is never used again.
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
    // are large; the narrow tables are better off without a rowid.
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

    // Only records that are deleted or have a parent stand in these indexes.
    private static let tombstones = """
        ALTER TABLE zone ADD COLUMN horizonSequence INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX tombstone ON record (modifiedAt) WHERE isDeleted;
        CREATE INDEX recordByParent ON record (zone, parent) WHERE parent IS NOT NULL;
        """

    // NULL where an app deleted the zone, or nobody did.
    private static let deletionReason = "ALTER TABLE zone ADD COLUMN deletionReason TEXT"

    // Only the roots of shares stand in this index.
    private static let shares = """
        CREATE INDEX recordByShare ON record (zone, share) WHERE share IS NOT NULL
        """

    private static let checksums = "ALTER TABLE record ADD COLUMN checksum INTEGER"

    // Empty but in public databases, where who deletes a record meets references of its creator only:
    // those of others stand elsewhere in the index, however many they are.
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

    // What the tables of records, index entries, references and sightings call a zone is its content,
    // which nothing else has; a number of one is never given again.
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

    // A snapshot has none of these: whoever reads a feed starts anew after it was restored.
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

    // What a snapshot has is in tables of its own, which are made with it: see
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
