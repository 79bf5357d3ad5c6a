import CloudKit
import Support
import Testing

@Suite("Archives of records")
struct RecordArchiveTests {
    let record = {
        let record = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: "n1", zoneID: CKRecordZone.ID(zoneName: "Notes"))
        )
        record["title"] = "Milk"
        record["count"] = 3
        record["tags"] = ["a", "b"]
        record["at"] = CLLocation(latitude: 1, longitude: 2)
        record["other"] = CKRecord.Reference(record: record, action: .deleteSelf)
        record["gone"] = nil
        record.encryptedValues["secret"] = "s"
        record.setParent(CKRecord.ID(recordName: "p"))
        return record
    }()

    @Test("System fields are written to the archiver's top level and make a record without values")
    func systemFields() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let read = try #require(CKRecord(coder: unarchiver))
        unarchiver.finishDecoding()

        #expect(read.recordType == "Note")
        #expect(read.recordID == record.recordID)
        #expect(read.parent?.recordID.recordName == "p")
        #expect(read.allKeys().isEmpty && read.changedKeys().isEmpty)
    }

    @Test("A whole record keeps values and changes")
    func wholeRecord() throws {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: record,
            requiringSecureCoding: true
        )
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
        )
        #expect(read.allKeys() == record.allKeys())
        #expect(read.changedKeys() == record.changedKeys())
        #expect(read["title"] == "Milk")
        #expect(read["count"] == 3)
        #expect(read["tags"] == ["a", "b"])
        #expect(read["at"] as? CLLocation == record["at"] as? CLLocation)
        #expect((read["other"] as? CKRecord.Reference)?.action == .deleteSelf)
        #expect(read.encryptedValues["secret"] == "s")
    }

    @Test("An archive that holds no record gives nil, whatever it holds")
    func broken() throws {
        let empty = NSKeyedArchiver(requiringSecureCoding: true)
        empty.finishEncoding()
        #expect(CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: empty.encodedData)) == nil)

        let foreign = NSKeyedArchiver(requiringSecureCoding: true)
        foreign.encode(NSNumber(value: 1), forKey: "RecordType")
        foreign.encode("text" as NSString, forKey: "RecordID")
        foreign.finishEncoding()
        let reader = try NSKeyedUnarchiver(forReadingFrom: foreign.encodedData)
        reader.requiresSecureCoding = true
        #expect(CKRecord(coder: reader) == nil)
    }

    private static func roundTrip<Object: NSObject & NSSecureCoding>(
        _ object: Object
    ) throws -> Object? {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: object,
            requiringSecureCoding: true
        )
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
    }

    @Test(
        "IDs, references, zones and tokens are equal after a round trip",
        arguments: CloudFixture.allCases
    )
    func values(fixture: CloudFixture) async throws {
        let id = record.recordID
        #expect(try Self.roundTrip(id) == id)
        #expect(try Self.roundTrip(id.zoneID) == id.zoneID)
        let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
        #expect(try Self.roundTrip(reference) == reference)
        #expect(try Self.roundTrip(CKRecordZone(zoneID: id.zoneID))?.zoneID == id.zoneID)

        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let saved = try await database.save(CKRecordZone(zoneName: "Notes"))
            // Zones themselves are equal only by identity.
            let zone = try await database.recordZone(for: saved.zoneID)
            let readZone = try #require(try Self.roundTrip(zone))
            #expect(readZone.zoneID == zone.zoneID)
            #expect(readZone.capabilities == zone.capabilities)
            #expect(readZone.share == zone.share)
            let token = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: nil
            ).changeToken
            let readToken = try #require(try Self.roundTrip(token))
            #expect(readToken == token && readToken.hash == token.hash)
            let recordID = CKRecord.ID(recordName: "n", zoneID: zone.zoneID)
            try await database.save(CKRecord(recordType: "Note", recordID: recordID))
            let later = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: readToken
            ).changeToken
            #expect(later != token)
        }
    }
}
