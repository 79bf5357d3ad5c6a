import CloudKit
import CloudKitCoreData
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Testing

@Suite("A database made of a Core Data store", .timeLimit(.minutes(5)))
struct ConvertedStoreTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "com.apple.coredata.cloudkit.zone")

    private static let sql = """
        CREATE TABLE Z_PRIMARYKEY (
            Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Note', 0, 2);
        CREATE TABLE ZNOTE (
            Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR);
        INSERT INTO ZNOTE VALUES (1, 1, 1, 'Milk'), (2, 1, 1, 'Bread');
        CREATE TABLE ANSCKRECORDZONEMETADATA (
            Z_PK INTEGER PRIMARY KEY, ZCKOWNERNAME VARCHAR, ZCKRECORDZONENAME VARCHAR);
        INSERT INTO ANSCKRECORDZONEMETADATA VALUES
            (1, '__defaultOwner__', 'com.apple.coredata.cloudkit.zone');
        CREATE TABLE ANSCKRECORDMETADATA (
            Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER,
            ZCKRECORDNAME VARCHAR, ZRECORDZONE INTEGER, ZNEEDSUPLOAD INTEGER);
        INSERT INTO ANSCKRECORDMETADATA VALUES
            (1, 1, 1, 'B7E2A1D4-0000-4000-8000-000000000001', 1, 0),
            (2, 1, 2, 'B7E2A1D4-0000-4000-8000-000000000002', 1, 0);
        """

    private static func model() throws -> CoreDataModel {
        var note = CoreDataModel.Entity(name: "Note")
        var text = CoreDataModel.Attribute(name: "text", type: .string)
        text.isOptional = true
        note.attributes = [text]
        return try CoreDataModel(entities: [note])
    }

    /// Returns a record as the app with Core Data has sent it.
    private static func record(_ number: Int, _ text: String) -> CKRecord {
        let name = "B7E2A1D4-0000-4000-8000-00000000000\(number)"
        let record = CKRecord(
            recordType: "CD_Note",
            recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
        )
        record["CD_entityName"] = "Note"
        record["CD_text"] = text
        return record
    }

    /// Returns the names of the records that the zone has, with their texts.
    private static func texts(_ database: CKDatabase) async throws -> [String: String] {
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        return try changes.modificationResultsByID.reduce(into: [:]) { texts, result in
            let record = try result.value.get().record
            texts[String(record.recordID.recordName.suffix(1))] =
                record["CD_text"] as? String ?? "-"
        }
    }

    /// Runs a test with the database of an app's store, after changes to the store, and with a zone that has records.
    private static func withConverted(
        _ changes: String = "",
        options: CoreDataConversionOptions = .init(),
        records: [CKRecord],
        _ body:
            @Sendable (
                _ cloud: CKDatabase, _ database: DatabaseQueue,
                _ store: @Sendable () throws -> CloudStore
            ) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ConvertedStoreTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("App.sqlite")
        let queue = try DatabaseQueue(path: source.path)
        try await queue.write { try $0.execute(sql: sql + changes) }
        try queue.close()
        let converted = folder.appendingPathComponent("app.sqlite")
        let report = try CoreDataStore(url: source, model: model())
            .convert(to: converted, options: options)
        #expect(report.createdRecords.isEmpty)
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let other = try await cloud.device(of: user).privateCloudDatabase
            _ = try await other.save(CKRecordZone(zoneID: zoneID))
            _ = try await other.modifyRecords(saving: records, deleting: [])
            let database = try DatabaseQueue(path: converted.path)
            let container = try await cloud.device(of: user)
            try await body(other, database) {
                try CloudStore(
                    database: database,
                    container: container,
                    format: .coreData(model()),
                    configuration: Device.configuration
                )
            }
        }
    }

    @Test("It goes on with the records of the app in the app's zone, and makes none a second time")
    func goesOn() async throws {
        let records = [Self.record(1, "Milk"), Self.record(2, "Bread")]
        try await Self.withConverted(records: records) { cloud, database, open in
            let store = try open()
            try await store.start()
            try await store.sync()
            try await database.write {
                try $0.execute(sql: "UPDATE Note SET text = 'Rye' WHERE text = 'Bread'")
            }
            try await store.sync()
            let changes = try await cloud.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
            let texts = changes.modificationResultsByID.values.compactMap {
                try? $0.get().record["CD_text"] as? String
            }
            #expect(texts.sorted() == ["Milk", "Rye"])
            let entities = changes.modificationResultsByID.values.compactMap {
                try? $0.get().record["CD_entityName"] as? String
            }
            #expect(entities == ["Note", "Note"])
            let fields = changes.modificationResultsByID.values.compactMap {
                try? $0.get().record.allKeys().sorted()
            }
            #expect(fields == [["CD_entityName", "CD_text"], ["CD_entityName", "CD_text"]])
            let rows = try await database.read {
                try String.fetchAll($0, sql: "SELECT text FROM Note ORDER BY 1")
            }
            #expect(rows == ["Milk", "Rye"])
        }
    }

    @Test("Edits that the app had not sent are sent, and what they replace is in the journal")
    func pendingEdits() async throws {
        // The second object has no text here: it may not have arrived.
        let changes = """
            UPDATE ANSCKRECORDMETADATA SET ZNEEDSUPLOAD = 1;
            UPDATE ZNOTE SET ZTEXT = NULL WHERE Z_PK = 2;
            """
        let records = [Self.record(1, "Water"), Self.record(2, "Bread")]
        try await Self.withConverted(changes, records: records) { cloud, database, open in
            let store = try open()
            try await store.start()
            try await store.sync()
            #expect(try await Self.texts(cloud) == ["1": "Milk", "2": "Bread"])
            let rows = try await database.read {
                try String.fetchAll($0, sql: "SELECT text FROM Note ORDER BY recordName")
            }
            #expect(rows == ["Milk", "Bread"])
            #expect(try await store.journal().map(\.lost) == [["CD_text": .text("Water")]])
            #expect(try await store.status.isSettled)
            #expect(try await store.verify().differences == [])
            await store.stop()
            // Later edits elsewhere count: nothing is adopted a second time.
            let record = try await cloud.record(for: Self.record(1, "").recordID)
            record["CD_text"] = "Wine"
            _ = try await cloud.modifyRecords(saving: [record], deleting: [])
            let next = try open()
            try await next.start()
            try await next.sync()
            #expect(try await Self.texts(cloud) == ["1": "Wine", "2": "Bread"])
        }
    }

    @Test(
        "Deletions that the app had not sent are sent, whether flagged or in its history alone, and once"
    )
    func pendingDeletions() async throws {
        let changes = """
            ALTER TABLE ANSCKRECORDMETADATA ADD COLUMN ZNEEDSCLOUDDELETE INTEGER;
            UPDATE ANSCKRECORDMETADATA SET ZNEEDSCLOUDDELETE = 1 WHERE ZENTITYPK = 1;
            INSERT INTO ANSCKRECORDMETADATA VALUES
                (3, 1, 3, 'B7E2A1D4-0000-4000-8000-000000000003', 1, 0, 0);
            DELETE FROM ZNOTE WHERE Z_PK = 1;
            CREATE TABLE ACHANGE (
                Z_PK INTEGER PRIMARY KEY, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER);
            INSERT INTO ACHANGE VALUES (1, 0, 1, 3), (2, 2, 1, 3), (3, 1, 1, 2);
            """
        let records = (1...3).map { Self.record($0, "old") }
        try await Self.withConverted(changes, records: records) { cloud, database, open in
            let store = try open()
            try await store.start()
            #expect(try await store.status.waitingToSend == 3)
            try await store.sync()
            #expect(try await Self.texts(cloud).keys.sorted() == ["2"])
            let count = try await database.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM Note")
            }
            #expect(count == 1)
            #expect(try await store.status.isSettled)
            #expect(try await store.verify().differences == [])
            await store.stop()
            // The app makes the record again, which is not deleted again.
            _ = try await cloud.modifyRecords(saving: [Self.record(1, "again")], deleting: [])
            let next = try open()
            try await next.start()
            try await next.sync()
            #expect(try await Self.texts(cloud)["1"] == "again")
        }
    }

    @Test(
        "A record without a row comes back, unless the conversion says that it is to be deleted",
        arguments: [false, true]
    )
    func withoutRow(_ deletes: Bool) async throws {
        var options = CoreDataConversionOptions()
        options.deletesRecordsWithoutRow = deletes
        let records = (1...2).map { Self.record($0, "old") }
        try await Self.withConverted(
            "DELETE FROM ZNOTE WHERE Z_PK = 1",
            options: options,
            records: records
        ) { cloud, database, open in
            let store = try open()
            try await store.start()
            try await store.sync()
            #expect(try await Self.texts(cloud).keys.sorted() == (deletes ? ["2"] : ["1", "2"]))
            let count = try await database.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM Note")
            }
            #expect(count == (deletes ? 1 : 2))
        }
    }

    @Test(
        "An object that CloudKit deleted goes with the first sync, unless its record is there again"
    )
    func deletedThere() async throws {
        let changes = """
            ALTER TABLE ANSCKRECORDMETADATA ADD COLUMN ZNEEDSLOCALDELETE INTEGER;
            UPDATE ANSCKRECORDMETADATA SET ZNEEDSLOCALDELETE = 1;
            """
        try await Self.withConverted(changes, records: [Self.record(2, "again")]) {
            cloud,
            database,
            open in
            let store = try open()
            try await store.start()
            try await store.sync()
            let rows = try await database.read {
                try String.fetchAll($0, sql: "SELECT text FROM Note")
            }
            #expect(rows == ["again"])
            #expect(try await Self.texts(cloud) == ["2": "again"])
            #expect(try await store.status.isSettled)
        }
    }
}
