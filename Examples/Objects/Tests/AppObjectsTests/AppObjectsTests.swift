#if canImport(CloudKitTesting)
import AppObjects
import CloudKit
import CloudKitCoreData
import CloudKitTesting
import Foundation
import Testing

@Suite("Objects of an app with Core Data")
struct AppObjectsTests {
    private static let zoneID = CKRecordZone.ID(zoneName: CoreDataFormat.zoneName)

    private static func model() throws -> CoreDataModel {
        func optional(
            _ name: String,
            _ type: CoreDataModel.AttributeType
        ) -> CoreDataModel.Attribute {
            var attribute = CoreDataModel.Attribute(name: name, type: type)
            attribute.isOptional = true
            return attribute
        }
        var note = CoreDataModel.Entity(name: "Note")
        note.attributes = [
            optional("text", .string), optional("count", .integer64), optional("done", .boolean),
        ]
        return try CoreDataModel(entities: [note])
    }

    @Test("What the app has is listed, what is set and added is the app's")
    func commands() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        _ = try await database.save(CKRecordZone(zoneID: Self.zoneID))
        let record = CKRecord(
            recordType: "CD_Note",
            recordID: CKRecord.ID(recordName: "N1", zoneID: Self.zoneID)
        )
        record["CD_entityName"] = "Note"
        record["CD_text"] = "Milk"
        record["CD_future"] = "kept"
        _ = try await database.save(record)

        let objects = try AppObjects(model: Self.model(), database: database)
        #expect(try await objects.list() == ["Note N1 text=Milk"])
        try await objects.set("N1", ["text": "Bread", "count": "3"])
        let changed = try await database.record(for: record.recordID)
        #expect(changed["CD_text"] == "Bread")
        #expect(changed["CD_count"] == 3)
        #expect(changed["CD_future"] == "kept")
        let name = try await objects.add("Note", ["text": "Tea", "done": "true"])
        let added = try await database.record(
            for: CKRecord.ID(recordName: name, zoneID: Self.zoneID)
        )
        #expect(added["CD_done"] == 1)
        #expect(try await objects.list().count == 2)
        await #expect(throws: AppObjects.Problem.self) {
            try await objects.set("N1", ["count": "many"])
        }
        await #expect(throws: (any Error).self) { try await objects.add("Note", ["colour": "red"]) }
    }
}
#endif
