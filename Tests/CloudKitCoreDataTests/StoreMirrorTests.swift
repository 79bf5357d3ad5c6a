import CloudKitCoreData
import Foundation
import GRDB
import Testing

@Suite("Core Data stores: what they know of CloudKit")
struct StoreMirrorTests {
    private static let model = """
        <entity name="Note"><attribute name="text" optional="YES" attributeType="String"/>
        <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Tag" inverseName="notes" inverseEntity="Tag"/></entity>
        <entity name="Tag"><relationship name="notes" optional="YES" toMany="YES"
        deletionRule="Nullify" \
        destinationEntity="Note" inverseName="tags" inverseEntity="Note"/></entity>
        """
    private static let tables = """
        CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR);
        CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
        CREATE TABLE Z_1TAGS (Z_1NOTES INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1NOTES, Z_2TAGS));
        INSERT INTO ZNOTE VALUES (1, 1, 1, 'one'), (2, 1, 1, 'two'), (3, 1, 1, 'three');
        INSERT INTO ZTAG VALUES (1, 2, 1), (2, 2, 1);
        INSERT INTO Z_1TAGS VALUES (1, 1), (2, 2);
        """
    /// The records: row 3 was deleted in CloudKit, row 4 was deleted here, and row 5 disappeared
    /// for an unknown reason.
    private static let records = """
        INSERT INTO ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK, ZCKRECORDNAME, ZRECORDZONE,
            ZNEEDSUPLOAD,
            ZNEEDSCLOUDDELETE, ZNEEDSLOCALDELETE) VALUES
            (1, 1, 'B7E2', 1, 0, 0, 0), (1, 2, 'N2', 2, 1, 0, 0), (1, 3, 'N3', 1, 0, 0, 1),
            (1, 4, 'N4', 1, 0, 1, 0), (1, 5, 'N5', 1, 0, 0, 0),
            (2, 1, 'T1', 1, 0, 0, 0), (2, 2, 'T2', 2, 0, 0, 0);
        INSERT INTO ANSCKMIRROREDRELATIONSHIP (ZCDENTITYNAME, ZRELATIONSHIPNAME, ZRECORDNAME,
            ZRELATEDENTITYNAME, ZRELATEDRECORDNAME, ZCKRECORDID, ZRECORDZONE, ZISUPLOADED,
                ZNEEDSDELETE) VALUES
            ('Note', 'tags', 'B7E2', 'Tag', 'T1', 'M1', 1, 1, 0),
            ('Tag', 'notes', 'T2', 'Note', 'N2', 'M2', 2, 1, 0),
            ('Tag', 'notes', 'T1', 'Note', 'B7E2', 'M3', 1, 1, 0),
            ('Note', 'tags', 'B7E2', 'Tag', 'T2', 'M4', 1, 1, 1);
        """
    private static let entities = [(1, "Note", 0), (2, "Tag", 0)]

    private func with(_ sql: String, _ body: (StoreFixture) throws -> Void) throws {
        try StoreFixture.with(
            Self.entities,
            Self.tables + StoreFixture.mirroring + Self.records + sql,
            body
        )
    }

    @Test("Rows and links keep the names and zones of their records, and what was pending stays so")
    func records() throws {
        try with("") { fixture in
            let store = try fixture.store(Self.model)
            let mirror = try #require(store.mirror)
            #expect(
                mirror.zones.map(\.name)
                    == [
                        "com.apple.coredata.cloudkit.zone",
                        "com.apple.coredata.cloudkit.share.4C1D",
                    ]
            )
            #expect(mirror.zones.map(\.scope) == [.private, .shared])
            #expect(mirror.rowsWithRecord == 5)
            #expect(mirror.rowsToSend == 1)
            #expect(mirror.rowsToDelete == 1)
            #expect(mirror.recordsToDelete == 1)
            #expect(mirror.recordsWithoutRow == 1)
            #expect(mirror.entitiesOfRecordsWithoutRow == ["Note": 1])
            #expect(mirror.missingRecords.isEmpty)
            let notes = try rows(store, "Note")
            #expect(notes.map { $0.record?.name } == ["B7E2", "N2", "N3"])
            #expect(notes[1].record?.zone?.owner == "_owner")
            try fixture.converted(store) { database, report throws in
                #expect(report.createdRecords.isEmpty)
                #expect(
                    try String.fetchAll(database, sql: "SELECT recordName FROM Note ORDER BY rowid")
                        == ["B7E2", "N2", "N3"]
                )
                let links = try Row.fetchAll(
                    database,
                    sql: "SELECT recordName, notes, tags FROM Note_tags ORDER BY 1"
                )
                #expect(lines(links) == ["M1 B7E2 T1", "M2 N2 T2"])
                let states = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT recordName, zone, tableName, state FROM coreDataRecord
                        ORDER BY recordName
                        """
                )
                #expect(
                    lines(states) == [
                        "B7E2 1 Note synced", "M1 1 Note_tags synced", "M2 2 Note_tags synced",
                        "M3 1 Note_tags duplicate", "M4 1 Note_tags deleted", "N2 2 Note changed",
                        "N3 1 Note gone", "N4 1 Note deleted", "T1 1 Tag synced", "T2 2 Tag synced",
                    ]
                )
            }
        }
    }

    @Test("A record without a row is one to delete if the history says so, or if the options do")
    func withoutRow() throws {
        func states(_ fixture: StoreFixture, deletes: Bool) throws -> [String] {
            var options = CoreDataConversionOptions()
            options.deletesRecordsWithoutRow = deletes
            let store = try fixture.store(Self.model)
            return try fixture.converted(store, options) { database, report throws in
                #expect(report.recordsWithoutRow == store.mirror?.entitiesOfRecordsWithoutRow)
                let rows = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT recordName, state FROM coreDataRecord
                        WHERE recordName IN ('N4', 'N5', 'N6') ORDER BY 1
                        """
                )
                return lines(rows)
            }
        }
        // Of an object that CloudKit deleted, and that is gone, nothing is left to do.
        let deletedThere = """
            INSERT INTO ANSCKRECORDMETADATA
                (ZENTITYID, ZENTITYPK, ZCKRECORDNAME, ZRECORDZONE, ZNEEDSLOCALDELETE)
                VALUES (1, 6, 'N6', 1, 1);
            """
        try with(deletedThere) { fixture in
            #expect(try states(fixture, deletes: false) == ["N4 deleted"])
            #expect(try states(fixture, deletes: true) == ["N4 deleted", "N5 deleted"])
            try fixture.execute("INSERT INTO ACHANGE VALUES (2, 16001, 1, 2, 1, 5, 1, NULL, NULL)")
            #expect(try states(fixture, deletes: false) == ["N4 deleted", "N5 deleted"])
            #expect(try fixture.store(Self.model).mirror?.recordsWithoutRow == 0)
        }
    }

    @Test("A record of a link that is not there is counted, and deleted if the options say so")
    func withoutLink() throws {
        // The links of M1 and of its duplicate M3 are gone, and that of M5 waits for its tag.
        let sql = """
            DELETE FROM Z_1TAGS WHERE Z_1NOTES = 1;
            INSERT INTO ANSCKMIRROREDRELATIONSHIP (ZCDENTITYNAME, ZRELATIONSHIPNAME, ZRECORDNAME,
                ZRELATEDENTITYNAME, ZRELATEDRECORDNAME, ZCKRECORDID, ZRECORDZONE, ZISUPLOADED,
                ZNEEDSDELETE, ZISPENDING)
                VALUES ('Note', 'tags', 'B7E2', 'Tag', 'T9', 'M5', 1, 1, 0, 1);
            """
        try with(sql) { fixture in
            let store = try fixture.store(Self.model)
            #expect(
                store.mirror?.entitiesOfRecordsWithoutRow == ["Note": 1, "Note.tags": 2]
            )
            #expect(store.mirror?.recordsWithoutRow == 3)
            for (deletes, states) in [
                (false, ["M2 synced", "M4 deleted"]),
                (true, ["M1 deleted", "M2 synced", "M3 deleted", "M4 deleted"]),
            ] {
                var options = CoreDataConversionOptions()
                options.deletesRecordsWithoutRow = deletes
                try fixture.converted(store, options) { database, report throws in
                    #expect(report.recordsWithoutRow["Note.tags"] == 2)
                    let found = try Row.fetchAll(
                        database,
                        sql: """
                            SELECT recordName, state FROM coreDataRecord
                            WHERE tableName = 'Note_tags' ORDER BY 1
                            """
                    )
                    #expect(lines(found) == states)
                }
            }
        }
    }

    @Test("Rows without a record are counted, and get names only when asked")
    func missing() throws {
        let sql = """
            INSERT INTO ZNOTE VALUES (6, 1, 1, 'new'); INSERT INTO Z_1TAGS VALUES (2, 1), (6, 1);
            """
        try with(sql) { fixture in
            let store = try fixture.store(Self.model)
            // A link of a row without a record cannot have one either.
            #expect(store.mirror?.missingRecords == ["Note": 1, "Note.tags": 2])
            let file = fixture.folder.appendingPathComponent("app.sqlite")
            let error = #expect(throws: CoreDataStoreError.self) { try store.convert(to: file) }
            #expect(error?.code == .missingRecords)
            #expect(error?.message.contains("Note 1") == true)
            #expect(FileManager.default.fileExists(atPath: file.path) == false)
            var options = CoreDataConversionOptions()
            options.createsMissingRecords = true
            try fixture.converted(store, options) { database, report throws in
                #expect(report.createdRecords == ["Note": 1, "Note.tags": 2])
                let new = try String.fetchAll(
                    database,
                    sql: "SELECT recordName FROM coreDataRecord WHERE state = 'new'"
                )
                #expect(new.count == 3)
                #expect(new.allSatisfy { UUID(uuidString: $0)?.uuidString == $0 })
            }
        }
    }

    @Test("A damaged index of the records gives no row the record of another")
    func untrustedIndex() throws {
        // According to the index all rows are one; only the table counts.
        try with("") { fixture in
            try fixture.write { database in
                try database.execute(sql: "PRAGMA writable_schema = ON")
                try database.execute(
                    sql: """
                        UPDATE sqlite_master SET sql =
                            'CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_entityId_entityPK '
                            || 'ON ANSCKRECORDMETADATA (ZENTITYPK, ZENTITYID)'
                        WHERE type = 'index' AND name LIKE 'Z_NSCK%'
                        """
                )
                try database.execute(sql: "PRAGMA writable_schema = OFF")
            }
            #expect(
                try rows(fixture.store(Self.model), "Note").map { $0.record?.name } == [
                    "B7E2", "N2", "N3",
                ]
            )
        }
    }

    @Test(
        "Newer systems keep the records' bytes in tables of their own; names stay where they were"
    )
    func newerTables() throws {
        let mirroring =
            StoreFixture.mirroring
            .replacing("ZCKRECORDSYSTEMFIELDS BLOB,", with: "ZSYSTEMFIELDSASSET INTEGER,")
            .replacing("ZENCODEDRECORD BLOB", with: "ZENCODEDRECORDASSET INTEGER")
                + """
                CREATE TABLE ANSCKRECORDMETADATAENCODEDRECORDASSET (Z_PK INTEGER PRIMARY KEY,
                    ZBINARYDATA BLOB);
                CREATE TABLE ANSCKRECORDMETADATASYSTEMFIELDSASSET (Z_PK INTEGER PRIMARY KEY,
                    ZBINARYDATA BLOB);
                """
        try StoreFixture.with(Self.entities, Self.tables + mirroring + Self.records) { fixture in
            let tags = try rows(fixture.store(Self.model), "Tag")
            #expect(tags.map { $0.record?.name } == ["T1", "T2"])
        }
    }

    @Test("Two records of one row, and two rows of one record, are errors")
    func twice() throws {
        let second = """
            DROP INDEX Z_NSCKRecordMetadata_UNIQUE_entityId_entityPK;
            INSERT INTO ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK, ZCKRECORDNAME) VALUES (1, 1,
                'other');
            """
        try with(second) { fixture in
            let error = #expect(throws: CoreDataStoreError.self) {
                _ = try fixture.store(Self.model)
            }
            #expect(error?.code == .invalidRow)
        }
        try with("UPDATE ANSCKRECORDMETADATA SET ZCKRECORDNAME = 'N2' WHERE ZENTITYPK = 3;") {
            fixture in
            let store = try fixture.store(Self.model)
            let error = #expect(throws: CoreDataStoreError.self) {
                try store.convert(to: fixture.folder.appendingPathComponent("app.sqlite"))
            }
            #expect(error?.place == "Note/p3")
            #expect(
                error?.message.contains("the same record \"N2\" as Note/p2") == true,
                "\(String(describing: error))"
            )
        }
    }

    @Test("A mirrored store without its table of records is refused, and an unused one is not")
    func lostRecords() throws {
        try with("DROP TABLE ANSCKRECORDMETADATA;") { fixture in
            let error = #expect(throws: CoreDataStoreError.self) { try fixture.store(Self.model) }
            #expect(error?.code == .unreadable)
            #expect(error?.place == "ANSCKRECORDMETADATA")
            #expect(error?.message.contains("mirrored") == true)
            try fixture.execute(
                """
                DELETE FROM ANSCKDATABASEMETADATA; DELETE FROM ANSCKRECORDZONEMETADATA;
                DELETE FROM ANSCKMIRROREDRELATIONSHIP;
                """
            )
            #expect(try fixture.store(Self.model).mirror == nil)
        }
    }

    @Test("Records of a zone that the store does not have are counted in a note")
    func unknownZone() throws {
        let sql = """
            UPDATE ANSCKRECORDMETADATA SET ZRECORDZONE = 55 WHERE ZCKRECORDNAME IN ('B7E2', 'T1');
            UPDATE ANSCKMIRROREDRELATIONSHIP SET ZRECORDZONE = 55 WHERE ZCKRECORDID = 'M1';
            """
        try with("") { fixture in
            #expect(try fixture.store(Self.model).notes == [])
            try fixture.execute(sql)
            let notes = try fixture.store(Self.model).notes
            #expect(notes.count == 1)
            #expect(notes.first?.contains("the zone of 3 records, ZRECORDZONE 55,") == true)
        }
    }
}
