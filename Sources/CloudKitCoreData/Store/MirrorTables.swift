import GRDB

/// The tables in which the mirroring keeps its records, converted into tables that can be joined.
///
/// Their own indexes are not trusted: a damaged one would assign a row the record of another.
struct MirrorTables {
    /// `ent`, `pk`, `name`, `zone`, `state`: the records of rows.
    static let records = "coreDataRecordOfRow"
    /// `relation`, `source`, `target`, `name`, `entity`, `zone`, `state`, `isPending`: the records of links, by
    /// the name of a relationship and the records at its ends.
    ///
    /// A pending one waits for the record of an end.
    static let links = "coreDataRecordOfLink"
    /// `ent`, `pk`: the rows that the store's history says the app deleted.
    private static let deletions = "coreDataDeletedRow"

    /// The state of a row in relation to its record, see ``CoreDataConversionReport``.
    enum State: String {
        case synced
        case changed
        case new
        case deleted
        case gone
        case duplicate
    }

    private let database: Database
    private let tables: StoreTables
    private(set) var zones: [Int64: CoreDataMirror.Zone] = [:]

    /// Creates the tables by reading the store's; nil if it was never mirrored.
    init?(_ database: Database, _ tables: StoreTables) throws {
        let names = ["ZENTITYID", "ZENTITYPK", "ZCKRECORDNAME"]
        guard names.allSatisfy({ tables.contains("ANSCKRECORDMETADATA", $0) }) else {
            try Self.checkUnmirrored(database, tables)
            return nil
        }
        self.database = database
        self.tables = tables
        zones = try readZones()
        try readDeletions()
        try readRecords()
        try readLinks()
    }

    /// Refuses a store that was mirrored, and whose table of records is missing: new names for its rows would make
    /// each record a second time.
    private static func checkUnmirrored(_ database: Database, _ tables: StoreTables) throws {
        for table in tables.columns.keys.sorted() where table.hasPrefix("ANSCK") {
            let isUsed = try Bool.fetchOne(
                database,
                sql: "SELECT EXISTS (SELECT 1 FROM main.\(table.quotedName) NOT INDEXED)"
            )
            guard isUsed == true else { continue }
            throw CoreDataStoreError(
                .unreadable,
                "ANSCKRECORDMETADATA",
                "the store was mirrored to CloudKit, as \(table) shows, but this table of the records is missing or lacks "
                    + "ZENTITYID, ZENTITYPK or ZCKRECORDNAME; take the store from the device or a backup again"
            )
        }
    }

    /// Descriptions of records whose zone is unknown.
    func notes() throws -> [String] {
        let known = zones.keys.sorted().map(String.init).joined(separator: ", ")
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT zone, count(*) FROM (SELECT zone FROM temp.\(Self.records)
                    UNION ALL SELECT zone FROM temp.\(Self.links))
                WHERE zone NOTNULL AND zone NOT IN (\(known)) GROUP BY 1 ORDER BY 1 LIMIT 20
                """
        )
        var notes: [String] = []
        while let row = try rows.next() {
            notes.append(
                "CloudKit: the zone of \(row[1] as Int) records, ZRECORDZONE \(row[0] as DatabaseValue), is not in the "
                    + "store; they are converted without a zone"
            )
        }
        return notes
    }

    /// Returns a column, or its replacement in files of systems that do not have it.
    private func column(_ name: String, of table: String, or other: String = "NULL") -> String {
        tables.contains(table, name) ? name : other
    }

    // MARK: Zones

    private func readZones() throws -> [Int64: CoreDataMirror.Zone] {
        let table = "ANSCKRECORDZONEMETADATA"
        guard tables.contains(table, "ZCKRECORDZONENAME"), tables.contains(table, "Z_PK") else {
            return [:]
        }
        let scope =
            tables.contains("ANSCKDATABASEMETADATA", "ZDATABASESCOPENUM")
                && tables.contains(table, "ZDATABASE")
            ? "(SELECT ZDATABASESCOPENUM FROM main.ANSCKDATABASEMETADATA d "
                + "WHERE d.Z_PK = ZDATABASE)"
            : "NULL"
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT Z_PK, ZCKRECORDZONENAME, \(column("ZCKOWNERNAME", of: table)), \(scope)
                FROM main.\(table) NOT INDEXED ORDER BY Z_PK LIMIT 100000
                """
        )
        var zones: [Int64: CoreDataMirror.Zone] = [:]
        while let row = try rows.next() {
            guard case .int64(let key) = (row[0] as DatabaseValue).storage,
                case .string(let name) = (row[1] as DatabaseValue).storage, !name.isEmpty
            else { continue }
            zones[key] = CoreDataMirror.Zone(
                name: name,
                owner: String.fromDatabaseValue(row[2]) ?? "__defaultOwner__",
                scope: Self.scope(row[3])
            )
        }
        return zones
    }

    private static func scope(_ value: DatabaseValue) -> CoreDataMirror.Zone.Scope? {
        switch value.storage {
        case .int64(1): .public
        case .int64(2): .private
        case .int64(3): .shared
        default: nil
        }
    }

    // MARK: Records

    /// Creates a table with the rows that the store's history says the app deleted.
    ///
    /// A key is never used a second time, so that such a row is gone.
    private func readDeletions() throws {
        try database.execute(
            sql: """
                CREATE TEMP TABLE \(Self.deletions) (
                    ent INTEGER, pk INTEGER, PRIMARY KEY (ent, pk)
                ) WITHOUT ROWID
                """
        )
        let table = "ACHANGE"
        guard
            ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK"].allSatisfy({ tables.contains(table, $0) })
        else { return }
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO temp.\(Self.deletions)
                SELECT ZENTITY, ZENTITYPK FROM main.\(table) NOT INDEXED
                WHERE ZCHANGETYPE = 2 AND typeof(ZENTITY) = 'integer'
                    AND typeof(ZENTITYPK) = 'integer'
                """
        )
    }

    private func readRecords() throws {
        let table = "ANSCKRECORDMETADATA"
        let isWrong = """
            typeof(ZENTITYID) <> 'integer' OR typeof(ZENTITYPK) <> 'integer'
            OR typeof(ZCKRECORDNAME) NOT IN ('text', 'null')
            OR ZCKRECORDNAME = '' OR length(ZCKRECORDNAME) > 255
            """
        let wrong = try Int.fetchOne(
            database,
            sql: "SELECT count(*) FROM main.\(table) NOT INDEXED WHERE \(isWrong)"
        )
        guard wrong == 0 else {
            throw CoreDataStoreError(
                .invalidRow,
                table,
                "\(wrong ?? 0) of its rows do not name a row and a record"
            )
        }
        let upload = column("ZNEEDSUPLOAD", of: table, or: "0")
        let cloudDelete = column("ZNEEDSCLOUDDELETE", of: table, or: "0")
        let localDelete = column("ZNEEDSLOCALDELETE", of: table, or: "0")
        try database.execute(
            sql: """
                CREATE TEMP TABLE \(Self.records) (
                    ent INTEGER, pk INTEGER, name TEXT, zone INTEGER, state TEXT,
                    PRIMARY KEY (ent, pk)
                ) WITHOUT ROWID
                """
        )
        do {
            try database.execute(
                sql: """
                    INSERT INTO temp.\(Self.records)
                    SELECT ZENTITYID, ZENTITYPK, ZCKRECORDNAME,
                        \(column("ZRECORDZONE", of: table)),
                        CASE WHEN \(cloudDelete) = 1 THEN 'deleted'
                            WHEN EXISTS (SELECT 1 FROM temp.\(Self.deletions)
                                WHERE ent = ZENTITYID AND pk = ZENTITYPK) THEN 'deleted'
                            WHEN \(localDelete) = 1 THEN 'gone'
                            WHEN \(upload) = 1 THEN 'changed' ELSE 'synced' END
                    FROM main.\(table) NOT INDEXED WHERE ZCKRECORDNAME NOTNULL
                    """
            )
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw CoreDataStoreError(
                .invalidRow,
                table,
                "two records are of one row; open the store with the app once, and copy it again"
            )
        }
    }

    private func readLinks() throws {
        let table = "ANSCKMIRROREDRELATIONSHIP"
        try database.execute(
            sql: """
                CREATE TEMP TABLE \(Self.links) (
                    relation TEXT, source TEXT, target TEXT, name TEXT, entity TEXT,
                    zone INTEGER, state TEXT, isPending INTEGER,
                    PRIMARY KEY (relation, source, target, name)
                ) WITHOUT ROWID
                """
        )
        let names = [
            "ZCDENTITYNAME", "ZRELATIONSHIPNAME", "ZRECORDNAME", "ZRELATEDRECORDNAME",
            "ZCKRECORDID",
        ]
        guard names.allSatisfy({ tables.contains(table, $0) }) else { return }
        let delete = column("ZNEEDSDELETE", of: table, or: "0")
        let uploaded = column("ZISUPLOADED", of: table, or: "1")
        let isText = names.map { "typeof(\($0)) = 'text'" }.joined(separator: " AND ")
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO temp.\(Self.links)
                SELECT ZRELATIONSHIPNAME, ZRECORDNAME, ZRELATEDRECORDNAME, ZCKRECORDID,
                    ZCDENTITYNAME, \(column("ZRECORDZONE", of: table)),
                    CASE WHEN \(delete) = 1 THEN 'deleted' WHEN \(uploaded) = 0 THEN 'changed'
                        ELSE 'synced' END,
                    \(column("ZISPENDING", of: table, or: "0")) IS 1
                FROM main.\(table) NOT INDEXED WHERE \(isText)
                """
        )
    }
}
