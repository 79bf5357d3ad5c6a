import CloudKitCoreData
import Foundation
import GRDB
import Testing

@Suite("Core Data stores: bytes from outside", .timeLimit(.minutes(10)))
struct StoreFuzzTests {
    private static let model = """
        <entity name="Folder"><attribute name="name" optional="YES"
        attributeType="String"/></entity>
        <entity name="Note"><attribute name="text" optional="YES" attributeType="String"/>
        <attribute name="count" optional="YES" attributeType="Integer 64"/>
        <attribute name="at" optional="YES" attributeType="Date"/>
        <attribute name="key" optional="YES" attributeType="UUID"/>
        <attribute name="image" optional="YES" attributeType="Binary"
        allowsExternalBinaryDataStorage="YES"/>
        <relationship name="folder" optional="YES" maxCount="1" deletionRule="Nullify"
        destinationEntity="Folder"/>
        <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Tag" inverseName="notes" inverseEntity="Tag"/></entity>
        <entity name="Tag"><relationship name="notes" optional="YES" toMany="YES"
        deletionRule="Nullify" \
        destinationEntity="Note" inverseName="tags" inverseEntity="Note"/></entity>
        """
    private static let entities = [(1, "Folder", 0), (2, "Note", 0), (3, "Tag", 0)]
    private static let sql = """
        CREATE TABLE ZFOLDER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME
            VARCHAR);
        CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOUNT INTEGER,
            ZFOLDER INTEGER,
            ZAT TIMESTAMP, ZTEXT VARCHAR, ZKEY BLOB, ZIMAGE BLOB);
        CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
        CREATE TABLE Z_2TAGS (Z_2NOTES INTEGER, Z_3TAGS INTEGER, PRIMARY KEY (Z_2NOTES, Z_3TAGS));
        CREATE INDEX ZNOTE_ZFOLDER_INDEX ON ZNOTE (ZFOLDER);
        INSERT INTO ZFOLDER VALUES (1, 1, 1, 'a'), (2, 1, 1, 'b');
        INSERT INTO ZTAG VALUES (1, 3, 1), (2, 3, 1);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
        INSERT INTO ZNOTE SELECT i, 2, 1, i * 7, 1 + i % 2, 700000000.25 + i, 'note ' || i,
            x'6F9619FF8B8642D011B400C04FC964FF', x'01FF' FROM n;
        INSERT INTO Z_2TAGS SELECT Z_PK, 1 + Z_PK % 2 FROM ZNOTE;
        INSERT INTO ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK, ZCKRECORDNAME, ZRECORDZONE)
            SELECT 2, Z_PK, 'N' || Z_PK, 1 FROM ZNOTE;
        """

    /// Returns the content of notes according to SQLite, without the code under test.
    private func plain(_ file: URL) throws -> [Int64: (text: Data?, count: Int64?)] {
        let queue = try DatabaseQueue(path: file.path)
        defer { try? queue.close() }
        return try queue.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT Z_PK, CAST(ZTEXT AS BLOB), ZCOUNT FROM ZNOTE NOT INDEXED"
            )
            return Dictionary(
                rows.compactMap { row in
                    Int64.fromDatabaseValue(row[0]).map {
                        ($0, (Data.fromDatabaseValue(row[1]), Int64.fromDatabaseValue(row[2])))
                    }
                }
            ) { first, _ in first }
        }
    }

    /// Reads a store, which may be refused; the results must be those of SQLite.
    private func use(_ file: URL, _ open: () throws -> CoreDataStore) throws -> Bool {
        let store: CoreDataStore
        var found: [CoreDataRow] = []
        do {
            store = try open()
            found = try rows(store, "Note")
        } catch is CoreDataStoreError {
            return false
        }
        let expected = try plain(file)
        #expect(found.count == expected.count)
        for row in found {
            #expect(row.values["count"] == expected[row.id.key]?.count.map(CoreDataValue.integer))
            let text = expected[row.id.key]?.text.map { String(decoding: $0, as: UTF8.self) }
            #expect(row.values["text"] == text.map(CoreDataValue.string))
        }
        var options = CoreDataConversionOptions()
        options.createsMissingRecords = true
        options.skipsUnreadableValues = true
        options.replacesFile = true
        let target = file.deletingLastPathComponent().appendingPathComponent("converted.sqlite")
        do {
            let report = try store.convert(to: target, options: options)
            #expect(report.rows["Note"] == found.count)
        } catch {
            #expect(error.code != .unwritable, "\(error)")
        }
        return true
    }

    @Test("No change of bytes in a store ends the process or gives a row that SQLite does not have")
    func stores() throws {
        try StoreFixture.with(Self.entities, StoreFixture.mirroring + Self.sql) { fixture in
            let whole = try Data(contentsOf: fixture.url)
            let model = try Fixture.model(Self.model)
            let isRead = try use(fixture.url) { try CoreDataStore(url: fixture.url, model: model) }
            #expect(isRead)
            let file = fixture.folder.appendingPathComponent("changed.sqlite")
            var changes = ByteChanges(state: 2603)
            var readable = 0
            for _ in 0..<300 {
                try changes.change(whole).write(to: file)
                if try use(file, { try CoreDataStore(url: file, model: model) }) { readable += 1 }
            }
            #expect(readable > 10)
            #expect(readable < 300)
        }
    }

    @Test("No change of bytes in a store that is read with its own model ends the process")
    func storesWithTheirModel() throws {
        let cache = try DatabaseQueue(path: Fixture.url("Trips.store").path).read {
            try Data.fetchOne($0, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE")
        }
        let sql = """
            CREATE TABLE ZTRIP (
                Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZGEAR INTEGER,
                ZBEGAN TIMESTAMP, ZPRICE DECIMAL, ZNAME VARCHAR, ZCAR VARCHAR, ZSECRET VARCHAR,
                ZTEXT VARCHAR, ZTAGS BLOB, ZKEY BLOB);
            CREATE TABLE ZSTOP (
                Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTRIP INTEGER,
                Z_FOK_TRIP INTEGER, ZWEATHER INTEGER, ZTENTS INTEGER, ZNAME VARCHAR);
            CREATE TABLE ZWEATHER (
                Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSUNNY INTEGER);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
            INSERT INTO ZTRIP SELECT i, 3, 1, NULL, i, 0.5, 'trip ' || i, 'car', 's', 't', x'6270',
                x'000102030405060708090A0B0C0D0E0F' FROM n;
            INSERT INTO ZSTOP SELECT Z_PK, 1 + Z_PK % 2, 1, Z_PK, 2048, NULL, 2, 'stop' FROM ZTRIP;
            """
        let entities = [(1, "Stop", 0), (2, "Camp", 1), (3, "Trip", 0), (4, "Weather", 0)]
        try StoreFixture.with(entities, sql, model: cache) { fixture in
            let whole = try Data(contentsOf: fixture.url)
            let file = fixture.folder.appendingPathComponent("changed.sqlite")
            var changes = ByteChanges(state: 1999)
            var readable = 0
            for _ in 0..<200 {
                try changes.change(whole).write(to: file)
                do {
                    let store = try CoreDataStore(url: file)
                    for entity in store.entities { _ = try rows(store, entity.name) }
                    readable += 1
                } catch is CoreDataStoreError {}
            }
            #expect(readable > 10)
            #expect(readable < 200)
        }
    }

    @Test("No change of bytes in a write-ahead log ends the process")
    func logs() throws {
        try StoreFixture.with(Self.entities, StoreFixture.mirroring + Self.sql) { fixture in
            let model = try Fixture.model(Self.model)
            let live = try DatabasePool(path: fixture.url.path)
            try live.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTEXT = 'changed ' || Z_PK") }
            let whole = try Data(contentsOf: URL(fileURLWithPath: fixture.url.path + "-wal"))
            let file = fixture.folder.appendingPathComponent("changed.sqlite")
            try FileManager.default.copyItem(at: fixture.url, to: file)
            let log = URL(fileURLWithPath: file.path + "-wal")
            var changes = ByteChanges(state: 11)
            for _ in 0..<60 {
                try changes.change(whole).write(to: log)
                do {
                    for row in try rows(CoreDataStore(url: file, model: model), "Note") {
                        // A damaged frame is ignored, with all later ones.
                        let texts = ["note \(row.id.key)", "changed \(row.id.key)"].map(
                            CoreDataValue.string
                        )
                        #expect(row.values["text"].map(texts.contains) == true)
                    }
                } catch is CoreDataStoreError {}
            }
            try live.close()
        }
    }

    @Test("A store whose tables are views, or whose keys are none, is refused")
    func otherTables() throws {
        let changes = [
            "DROP TABLE ZTAG; CREATE VIEW ZTAG AS SELECT 1 AS Z_PK, 3 AS Z_ENT, 1 AS Z_OPT",
            "DROP TABLE ZTAG; CREATE TABLE ZTAG (Z_PK TEXT PRIMARY KEY, Z_ENT INTEGER)",
            "DROP TABLE ZTAG; CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY)",
            "UPDATE ZTAG SET Z_ENT = 2", "UPDATE ZTAG SET Z_ENT = NULL",
            "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Note'", "UPDATE Z_PRIMARYKEY SET Z_ENT = -Z_ENT",
            "DROP TABLE Z_2TAGS; CREATE TABLE Z_2TAGS (Z_2NOTES INTEGER, Z_3TAGS INTEGER, X "
                + "INTEGER)",
            "UPDATE ANSCKRECORDMETADATA SET ZCKRECORDNAME = x'00'",
            "UPDATE ANSCKRECORDMETADATA SET ZENTITYPK = 'a' || ZENTITYPK",
        ]
        for change in changes {
            try StoreFixture.with(Self.entities, StoreFixture.mirroring + Self.sql) { fixture in
                try fixture.execute(change)
                #expect(throws: CoreDataStoreError.self, "\(change)") {
                    _ = try fixture.store(Self.model)
                }
            }
        }
    }
}
