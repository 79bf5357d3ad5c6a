#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The tables, and the migrations of older databases: in order, each once, forwards only.
///
/// The rows of users begin their keys with the number of their database, and every statement of a
/// frequent request names it, so that the tables can be divided by it.
struct PostgresTables {
    /// The number of hash partitions of the tables that are divided by database; 0 for none.
    ///
    /// It matters when they are created.
    var partitions = 0
    /// `true` when they are created in a database that has none.
    var areMade = true
    /// `true` when the database may have a copy of other data that has not ended.
    var mayBeUnfinished = false

    /// The keys of the advisory locks in the server's catalogue of them.
    enum Lock {
        static let migration: Int64 = 0x434B_0000
        static let everything: Int64 = 0x434B_0001
        private static let database: Int64 = 0x434B_0002
        private static let user: Int64 = 0x434B_0003
        private static let queue: Int64 = 0x434B_0004
        private static let credential: Int64 = 0x434B_0005

        // Different rows may share a key, and wait for each other then.
        private static func key(_ kind: Int64, _ number: Int64) -> Int64 {
            kind << 32 | number & 0xFFFF_FFFF
        }

        private static func key(_ kind: Int64, _ hash: Data) -> Int64 {
            key(kind, hash.prefix(4).reduce(0) { $0 << 8 | Int64($1) })
        }

        static func key(ofDatabase number: Int64) -> Int64 { key(database, number) }
        static func key(ofUser id: RowID<StoredUser>) -> Int64 { key(user, id.rawValue) }
        static func key(ofQueue queue: Data) -> Int64 { key(Self.queue, queue) }
        static func key(ofCredential hash: Data) -> Int64 { key(credential, hash) }
    }

    /// Brings the tables up to date.
    ///
    /// - Throws: `StorageError` if a newer version has changed them; `PostgresFailure`.
    func migrate(_ connection: PostgresConnection) throws {
        do {
            try migrateInTransaction(connection)
        } catch {
            // The error above is the one to report; a connection that is lost has no transaction.
            try? connection.run([Statement(sql: "ROLLBACK", isPrepared: false)])
            guard let failure = error as? PostgresFailure, Self.foreign.contains(failure.code)
            else { throw error }
            throw StorageError(
                .other,
                "It has tables of something else, and nothing was changed; name a database that is empty "
                    + "(PostgreSQL: \(failure.message))"
            )
        }
    }

    /// The codes of failures where a table or a function exists already, or has other columns.
    private static let foreign: Set<String> = ["42P07", "42723", "42703", "42P01"]

    private func migrateInTransaction(_ connection: PostgresConnection) throws {
        var applied: Int64 = 0
        try connection.run([
            once("BEGIN"),
            // Nodes that start together take turns.
            once("SELECT pg_advisory_xact_lock(\(Lock.migration))"),
            once("SET LOCAL client_min_messages = warning"),
            once("CREATE TABLE IF NOT EXISTS migration (number bigint PRIMARY KEY)"),
        ])
        try connection.run([
            Statement(
                sql: "SELECT coalesce(max(number), 0) FROM migration",
                isPrepared: false,
                receive: { rows in for row in rows { applied = row.int(0) } }
            )
        ])
        let all = [first, Self.assetFiles, Self.checksums]
        guard applied <= Int64(all.count) else {
            throw StorageError(
                .corrupt,
                "The tables were changed by a newer version of cloudkit, which this one cannot read; "
                    + "nothing was changed: use that version again"
            )
        }
        guard applied > 0 || areMade else {
            throw StorageError(
                .other,
                "It has no tables of cloudkit yet; cloudkit serve creates them, and so does --new"
            )
        }
        if applied > 0, partitions > 0 { try checkPartitions(connection) }
        var statements: [Statement] = []
        for (place, migration) in all.enumerated() where Int64(place) >= applied {
            statements += migration.map(once)
            statements.append(once("INSERT INTO migration VALUES (\(place + 1))"))
        }
        statements.append(
            Statement(
                sql: "SELECT 1 FROM setting WHERE name = $1",
                parameters: [.text(CopyState.setting)],
                isPrepared: false
            ) { [mayBeUnfinished] rows in
                for _ in rows where !mayBeUnfinished { throw CopyState.refusal(of: "It") }
            }
        )
        statements.append(once("COMMIT"))
        try connection.run(statements)
    }

    /// Refuses another number of partitions than the tables have.
    private func checkPartitions(_ connection: PostgresConnection) throws {
        var found: Int64 = 0
        try connection.run([
            Statement(
                sql: "SELECT count(*) FROM pg_inherits WHERE inhparent = 'record'::regclass",
                isPrepared: false,
                receive: { rows in for row in rows { found = row.int(0) } }
            )
        ])
        guard found != partitions else { return }
        throw StorageError(
            .other,
            "Its tables exist already, with \(found == 0 ? "no" : String(found)) partitions, not "
                + "\(partitions); copy the data to an empty database with cloudkit data copy to change that"
        )
    }

    private func once(_ sql: String) -> Statement { Statement(sql: sql, isPrepared: false) }

    /// Returns the statements that create a table divided by database.
    private func divided(_ name: String, _ columns: String) -> [String] {
        guard partitions > 0 else { return ["CREATE TABLE \(name) (\(columns))"] }
        let parts = (0..<partitions).map { part in
            "CREATE TABLE \(name)_\(part) PARTITION OF \(name) "
                + "FOR VALUES WITH (MODULUS \(partitions), REMAINDER \(part))"
        }
        return ["CREATE TABLE \(name) (\(columns)) PARTITION BY HASH (database)"] + parts
    }

    private var first: [String] {
        Self.accounts + zones + contents + Self.snapshots + Self.functions
    }

    // Row numbers come in blocks, each of them for one node.
    private static let accounts = [
        "CREATE SEQUENCE row_block INCREMENT BY \(RowNumbers.block) START WITH 1",
        "CREATE SEQUENCE push_number",
        "CREATE TABLE setting (name bytea PRIMARY KEY, value bytea NOT NULL)",
        """
        CREATE TABLE environment (
            id bigint PRIMARY KEY,
            container bytea NOT NULL,
            kind bytea NOT NULL,
            schema_version bigint NOT NULL,
            schema bytea,
            UNIQUE (container, kind)
        )
        """,
        // Deleted users have no container, and names that are theirs alone.
        """
        CREATE TABLE account (
            id bigint PRIMARY KEY,
            container bytea NOT NULL,
            record_name bytea NOT NULL,
            given_name bytea,
            family_name bytea,
            email_address bytea,
            UNIQUE (container, record_name)
        )
        """,
        """
        CREATE TABLE credential (
            kind bigint NOT NULL,
            hash bytea NOT NULL,
            environment bigint NOT NULL,
            account bigint,
            companion bytea,
            expires bigint,
            PRIMARY KEY (kind, hash)
        )
        """,
        "CREATE INDEX credential_by_environment ON credential (environment, kind, hash)",
        "CREATE INDEX credential_by_end ON credential (expires) WHERE expires IS NOT NULL",
        """
        CREATE TABLE document (
            collection bytea NOT NULL,
            name bytea NOT NULL,
            body bytea NOT NULL,
            PRIMARY KEY (collection, name)
        )
        """,
        """
        CREATE TABLE push (
            queue bytea NOT NULL,
            id bigint NOT NULL,
            slot bytea,
            body bytea NOT NULL,
            PRIMARY KEY (queue, id)
        )
        """,
        "CREATE INDEX push_by_number ON push (id)",
        "CREATE UNIQUE INDEX push_by_slot ON push (queue, slot) WHERE slot IS NOT NULL",
        """
        CREATE TABLE commit_marker (
            id bytea PRIMARY KEY,
            made timestamptz NOT NULL DEFAULT now()
        )
        """,
        "CREATE INDEX commit_marker_by_age ON commit_marker (made)",
    ]

    // An owner of 0 is no user: NULLs would not be unique.
    private var zones: [String] {
        [
            """
            CREATE TABLE database (
                id bigint PRIMARY KEY,
                environment bigint NOT NULL,
                owner bigint NOT NULL,
                incarnation bigint NOT NULL,
                head_sequence bigint NOT NULL,
                UNIQUE (environment, owner)
            )
            """
        ]
            + divided(
                "zone",
                """
                database bigint NOT NULL,
                id bigint NOT NULL,
                name bytea NOT NULL,
                incarnation bigint NOT NULL,
                head_sequence bigint NOT NULL,
                change_sequence bigint NOT NULL,
                is_deleted boolean NOT NULL,
                birth_sequence bigint NOT NULL,
                bytes bigint NOT NULL,
                horizon_sequence bigint NOT NULL,
                deletion_reason bytea,
                PRIMARY KEY (database, id),
                UNIQUE (database, name)
                """
            ) + [
                "CREATE INDEX zone_by_change ON zone (database, change_sequence)",
                "CREATE INDEX zone_by_number ON zone (id)",
            ]
    }

    private var contents: [String] {
        divided(
            "record",
            """
            database bigint NOT NULL,
            id bigint NOT NULL,
            zone bigint NOT NULL,
            name bytea NOT NULL,
            type bytea NOT NULL,
            sequence bigint NOT NULL,
            created_at bigint NOT NULL,
            created_by bytea NOT NULL,
            modified_at bigint NOT NULL,
            modified_by bytea NOT NULL,
            is_deleted boolean NOT NULL,
            parent bytea,
            share bytea,
            has_assets boolean NOT NULL,
            fields bytea NOT NULL,
            extra bytea,
            PRIMARY KEY (database, id),
            UNIQUE (database, zone, name),
            UNIQUE (database, zone, sequence)
            """
        ) + [
            "CREATE INDEX tombstone ON record (modified_at, id) WHERE is_deleted",
            """
            CREATE INDEX record_by_parent ON record (database, zone, parent, id)
            WHERE parent IS NOT NULL
            """,
            """
            CREATE INDEX record_by_share ON record (database, zone, share)
            WHERE share IS NOT NULL
            """,
        ]
            + divided(
                "index_entry",
                """
                database bigint NOT NULL,
                zone bigint NOT NULL,
                number bigint NOT NULL,
                key bytea NOT NULL,
                record bigint NOT NULL,
                PRIMARY KEY (database, zone, number, key, record)
                """
            )
            + divided(
                "reference",
                """
                database bigint NOT NULL,
                zone bigint NOT NULL,
                target bytea NOT NULL,
                circle bytea NOT NULL,
                kind bigint NOT NULL,
                source bigint NOT NULL,
                PRIMARY KEY (database, zone, target, circle, source, kind)
                """
            ) + ["CREATE INDEX reference_by_source ON reference (database, source)"]
            + divided(
                "asset",
                """
                database bigint NOT NULL,
                record bigint NOT NULL,
                checksum bytea NOT NULL,
                PRIMARY KEY (database, record, checksum)
                """
            ) + ["CREATE INDEX asset_by_checksum ON asset (checksum)"]
            + divided(
                "sighting",
                """
                database bigint NOT NULL,
                zone bigint NOT NULL,
                viewer bigint NOT NULL,
                sequence bigint NOT NULL,
                record bigint NOT NULL,
                PRIMARY KEY (database, record, viewer),
                UNIQUE (database, zone, viewer, sequence)
                """
            )
    }

    /// Returns the function that removes the rows of records from tables.
    private static func removal(
        _ name: String,
        _ tables: [(name: String, column: String)]
    ) -> String {
        let deletions = tables.map { table in
            "DELETE FROM \(table.name) WHERE database = home AND \(table.name).\(table.column) = one;"
        }
        return """
            CREATE FUNCTION \(name)(home bigint, rows bigint[]) RETURNS void
            LANGUAGE plpgsql AS $$
            DECLARE one bigint;
            BEGIN
                FOREACH one IN ARRAY rows LOOP
                    \(deletions.joined(separator: " "))
                END LOOP;
            END $$
            """
    }

    /// The columns of a zone, in the order of its values.
    static let zoneColumns = """
        database, id, name, incarnation, head_sequence, change_sequence, is_deleted,
        birth_sequence, bytes, horizon_sequence, deletion_reason
        """

    /// The columns of a record except the database's, in the order of its values.
    static let recordColumns = """
        id, zone, name, type, sequence, created_at, created_by, modified_at, modified_by,
        is_deleted, parent, share, has_assets, fields, extra, checksum
        """

    /// The tables of which a snapshot has rows, and the names of their columns.
    static let kept: [(table: String, columns: String)] = [
        ("environment", "id, container, kind, schema_version, schema"),
        ("database", "id, environment, owner, incarnation, head_sequence"),
        ("zone", zoneColumns),
        ("record", "database, \(recordColumns)"),
        ("index_entry", "database, zone, number, key, record"),
        ("reference", "database, zone, target, circle, kind, source"),
        ("asset", "database, record, checksum"),
        ("document", "collection, name, body"),
    ]

    // A snapshot has copies of the rows.
    private static let snapshots =
        [
            """
            CREATE TABLE snapshot (
                id bigint PRIMARY KEY,
                container bytea NOT NULL,
                name bytea NOT NULL,
                created bigint NOT NULL,
                UNIQUE (container, name)
            )
            """
        ]
        + kept.flatMap { part in
            [
                """
                CREATE TABLE kept_\(part.table) AS
                SELECT 0::bigint AS snapshot, \(part.table).* FROM \(part.table) WHERE false
                """,
                "CREATE INDEX kept_\(part.table)_by_snapshot ON kept_\(part.table) (snapshot)",
            ]
        } + ["CREATE INDEX kept_asset_by_checksum ON kept_asset (checksum)"]

    // A row that is older has none until it is changed: nodes of a large database start at once.
    private static let checksums = [
        "ALTER TABLE record ADD COLUMN checksum bigint",
        "ALTER TABLE kept_record ADD COLUMN checksum bigint",
    ]

    // A statement that finds other rows than its transaction has read ends the transaction. Rows are
    // removed one by one, because the plan for many could be to read all rows of the database.
    private static let functions = [
        """
        CREATE FUNCTION remove_entries(
            home bigint, zones bigint[], numbers bigint[], keys bytea[], records bigint[]
        ) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE old record;
        BEGIN
            FOR old IN SELECT * FROM unnest(zones, numbers, keys, records) AS old (a, b, c, d) LOOP
                DELETE FROM index_entry WHERE database = home AND zone = old.a
                    AND number = old.b AND key = old.c AND index_entry.record = old.d;
            END LOOP;
        END $$
        """,
        removal("remove_rows", [("sighting", "record"), ("record", "id")]),
        removal("remove_references", [("reference", "source")]),
        removal("remove_assets", [("asset", "record")]),
        """
        CREATE FUNCTION require_unchanged(is_unchanged boolean) RETURNS void
        LANGUAGE plpgsql AS $$
        BEGIN
            IF NOT is_unchanged THEN
                RAISE EXCEPTION 'a document was changed meanwhile' USING ERRCODE = '40001';
            END IF;
        END $$
        """,
    ]
}
#endif
