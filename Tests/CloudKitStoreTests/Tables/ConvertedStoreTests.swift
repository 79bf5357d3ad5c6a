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

    @Test("It goes on with the records of the app in the app's zone, and makes none a second time")
    func goesOn() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ConvertedStoreTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("App.sqlite")
        let queue = try DatabaseQueue(path: source.path)
        try await queue.write { try $0.execute(sql: Self.sql) }
        try queue.close()
        let converted = folder.appendingPathComponent("app.sqlite")
        let report = try CoreDataStore(url: source, model: Self.model()).convert(to: converted)
        #expect(report.createdRecords.isEmpty)

        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let other = try await cloud.device(of: user).privateCloudDatabase
            _ = try await other.save(CKRecordZone(zoneID: Self.zoneID))
            let records = [Self.record(1, "Milk"), Self.record(2, "Bread")]
            _ = try await other.modifyRecords(saving: records, deleting: [])
            let database = try DatabaseQueue(path: converted.path)
            let store = try CloudStore(
                database: database,
                container: try await cloud.device(of: user),
                format: .coreData(Self.model()),
                configuration: Device.configuration
            )
            try await store.start()
            try await store.sync()
            try await database.write {
                try $0.execute(sql: "UPDATE Note SET text = 'Rye' WHERE text = 'Bread'")
            }
            try await store.sync()
            let changes = try await other.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
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
}
