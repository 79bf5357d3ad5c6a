import CloudKitCoreData
import Foundation
import GRDB

/// A store in Core Data's format, created with SQL alone, so that no code is shared with the reader.
struct StoreFixture {
    let folder: URL
    let url: URL

    /// Runs a test with an empty store.
    ///
    /// - Parameters:
    ///   - entities: The entities by number, with the numbers of their parents.
    ///   - sql: The tables of the entities, and their rows.
    static func with<Value>(
        _ entities: [(number: Int, name: String, parent: Int)],
        _ sql: String,
        model: Data? = nil,
        _ body: (StoreFixture) throws -> Value
    ) throws -> Value {
        try Fixture.inFolder { folder in
            let fixture = StoreFixture(
                folder: folder,
                url: folder.appendingPathComponent("App.sqlite")
            )
            try fixture.write { database in
                try database.execute(sql: housekeeping)
                for entity in entities {
                    try database.execute(
                        sql: "INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, 0)",
                        arguments: [entity.number, entity.name, entity.parent]
                    )
                }
                if let model {
                    try database.execute(
                        sql: "INSERT INTO Z_MODELCACHE VALUES (?)",
                        arguments: [model]
                    )
                }
                try database.execute(sql: sql)
            }
            return try body(fixture)
        }
    }

    /// Changes the store as the app would.
    func write(_ body: (Database) throws -> Void) throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.write(body)
        try queue.close()
    }

    func execute(_ sql: String) throws { try write { try $0.execute(sql: sql) } }

    /// Adds a file to the folder of large values.
    func addExternal(_ name: String, _ data: Data) throws {
        let files = folder.appendingPathComponent(".App_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try data.write(to: files.appendingPathComponent(name))
    }

    func store(_ content: String) throws -> CoreDataStore {
        try CoreDataStore(url: url, model: Fixture.model(content))
    }

    /// Converts the store and reads the new database.
    func converted<Value>(
        _ store: CoreDataStore,
        _ options: CoreDataConversionOptions = .init(),
        _ body: (Database, CoreDataConversionReport) throws -> Value
    ) throws -> Value {
        let file = folder.appendingPathComponent("\(UUID().uuidString).sqlite")
        let report = try store.convert(to: file, options: options)
        let queue = try DatabaseQueue(path: file.path)
        defer { try? queue.close() }
        return try queue.read { database in
            // The converted rows satisfy the tables' foreign keys.
            try database.checkForeignKeys()
            return try body(database, report)
        }
    }

    /// The tables of every store, with those of the history and the versions.
    private static let housekeeping = """
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX
            INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        INSERT INTO Z_METADATA VALUES (1, '5E3C2B1A-0000-4000-8000-000000000001', NULL);
        CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER,
            ZTIMESTAMP TIMESTAMP);
        CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZNAME VARCHAR);
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE
            INTEGER,
            ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0
                BLOB);
        INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 1), (16002, 'TRANSACTION', 0, 1),
            (16003, 'TRANSACTIONSTRING', 0, 1), (17001, 'CKRecordMetadata', 0, 1);
        INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 1, NULL, NULL, NULL, 700000000.5);
        INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'NSCloudKitMirroringDelegate.import');
        INSERT INTO ACHANGE VALUES (1, 16001, 1, 0, 1, 1, 1, x'FF', NULL);
        """

    /// The tables of the mirroring, in the format up to about iOS 17.
    static let mirroring = """
        CREATE TABLE ANSCKDATABASEMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZDATABASESCOPENUM INTEGER, ZDATABASENAME VARCHAR, ZCURRENTCHANGETOKEN BLOB);
        CREATE TABLE ANSCKRECORDZONEMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT
            INTEGER,
            ZDATABASE INTEGER, ZCKOWNERNAME VARCHAR, ZCKRECORDZONENAME VARCHAR, ZCURRENTCHANGETOKEN
                BLOB);
        CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZENTITYID INTEGER, ZENTITYPK INTEGER, ZNEEDSCLOUDDELETE INTEGER, ZNEEDSLOCALDELETE
                INTEGER,
            ZNEEDSUPLOAD INTEGER, ZRECORDZONE INTEGER, ZCKRECORDNAME VARCHAR, ZCKRECORDSYSTEMFIELDS
                BLOB,
            ZENCODEDRECORD BLOB);
        CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_entityId_entityPK
            ON ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK);
        CREATE TABLE ANSCKMIRROREDRELATIONSHIP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT
            INTEGER,
            ZISPENDING INTEGER, ZISUPLOADED INTEGER, ZNEEDSDELETE INTEGER, ZRECORDZONE INTEGER,
            ZCDENTITYNAME VARCHAR, ZCKRECORDID VARCHAR, ZRECORDNAME VARCHAR, ZRELATEDENTITYNAME
                VARCHAR,
            ZRELATEDRECORDNAME VARCHAR, ZRELATIONSHIPNAME VARCHAR);
        INSERT INTO ANSCKDATABASEMETADATA VALUES (1, 17002, 1, 2, 'private', NULL), (2, 17002, 1, 3,
            'shared', NULL);
        INSERT INTO ANSCKRECORDZONEMETADATA VALUES
            (1, 17003, 1, 1, '__defaultOwner__', 'com.apple.coredata.cloudkit.zone', NULL),
            (2, 17003, 1, 2, '_owner', 'com.apple.coredata.cloudkit.share.4C1D', NULL);
        """
}

/// Returns the rows of an entity, or the error that ends them.
func rows(
    _ store: CoreDataStore,
    _ entity: String,
    includesSubentities: Bool = true
) throws -> [CoreDataRow] {
    try store.rows(of: entity, includesSubentities: includesSubentities).map { try $0.get() }
}

/// Returns rows of a database as text, for comparisons.
func lines(_ rows: [Row]) -> [String] {
    rows.map { row in
        row.databaseValues.map { value in
            switch value.storage {
            case .null: "-"
            case .int64(let number): "\(number)"
            case .double(let number): "\(number)"
            case .string(let text): text
            case .blob(let data): data.base64EncodedString()
            }
        }
        .joined(separator: " ")
    }
}
