import CloudKit
import CloudKitCoreData
import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

@Suite("The zone of a Stitch app", .timeLimit(.minutes(5)))
struct StitchZoneTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "SMStoreCloudStore_CustomZone")

    private static func model() throws -> CoreDataModel {
        func optional(
            _ name: String,
            _ type: CoreDataModel.AttributeType
        ) -> CoreDataModel.Attribute {
            var attribute = CoreDataModel.Attribute(name: name, type: type)
            attribute.isOptional = true
            return attribute
        }
        var folder = CoreDataModel.Entity(name: "Folder")
        folder.attributes = [optional("name", .string)]
        var notes = CoreDataModel.Relationship(name: "notes", destination: "Note")
        notes.isToMany = true
        notes.deleteRule = .cascade
        (notes.inverseName, notes.inverseEntity) = ("folder", "Note")
        folder.relationships = [notes]
        var note = CoreDataModel.Entity(name: "Note")
        var photo = optional("photo", .binary)
        photo.allowsExternalStorage = true
        note.attributes = [
            optional("title", .string), optional("made", .date), optional("pinned", .boolean),
            photo,
        ]
        var parent = CoreDataModel.Relationship(name: "folder", destination: "Folder")
        parent.isOptional = true
        (parent.inverseName, parent.inverseEntity) = ("notes", "Folder")
        note.relationships = [parent]
        return try CoreDataModel(entities: [folder, note])
    }

    @Test("A Stitch zone's records become rows of the model's tables, and rows such records")
    func records() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let other = try await cloud.device(of: user).privateCloudDatabase
            _ = try await other.save(CKRecordZone(zoneID: Self.zoneID))
            func id(_ name: String) -> CKRecord.ID {
                CKRecord.ID(recordName: name, zoneID: Self.zoneID)
            }
            let folder = CKRecord(recordType: "Folder", recordID: id("F1"))
            folder["name"] = "Trips"
            let note = CKRecord(recordType: "Note", recordID: id("N1"))
            note["title"] = "Tent"
            note["made"] = Date(timeIntervalSinceReferenceDate: 0)
            note["pinned"] = 1
            note["folder"] = CKRecord.Reference(recordID: folder.recordID, action: .deleteSelf)
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent("StitchZoneTests-\(UUID().uuidString)")
            try Data([1, 2, 3]).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            note["photo"] = CKAsset(fileURL: file)
            _ = try await other.modifyRecords(saving: [folder, note], deleting: [])

            let database = try DatabaseQueue()
            let model = try Self.model()
            try await database.write { try CoreDataTables(model: model).create(in: $0) }
            var configuration = Device.configuration
            configuration.zoneName = Self.zoneID.zoneName
            let store = try CloudStore(
                database: database,
                container: try await cloud.device(of: user),
                tables: [
                    .table("Folder", recordNames: .key),
                    .table("Note", recordNames: .key, assets: ["photo": .withRow]),
                ],
                configuration: configuration
            )
            try await store.start()
            try await store.sync()
            let row = try await database.read {
                try String.fetchOne(
                    $0,
                    sql: "SELECT json_array(title, made, pinned, hex(photo), folder) FROM Note"
                )
            }
            #expect(row == #"["Tent","2001-01-01 00:00:00.000",1,"010203","F1"]"#)
            try await database.write {
                try $0.execute(
                    sql: """
                        INSERT INTO Note (recordName, title, folder) VALUES ('N2', 'Stove', 'F1');
                        UPDATE Note SET title = 'Big tent' WHERE recordName = 'N1';
                        """
                )
            }
            try await store.sync()
            let changed = try await other.record(for: id("N1"))
            #expect(changed["title"] == "Big tent")
            #expect(changed["pinned"] == 1)
            let new = try await other.record(for: id("N2"))
            #expect(new.recordType == "Note")
            #expect((new["folder"] as? CKRecord.Reference)?.recordID == id("F1"))
            #expect(try await store.status.isSettled)
        }
    }
}
