import CloudKit
import Testing

@Suite("System fields in a few bytes")
struct CompactSystemFieldsTests {
    private let record: CKRecord

    /// Creates a record as the server returned it, from an archive.
    init() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: "_ada")
        func reference(_ name: String) -> CKRecord.Reference {
            let recordID = CKRecord.ID(recordName: name, zoneID: zoneID)
            return CKRecord.Reference(recordID: recordID, action: .none)
        }
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode("Note" as NSString, forKey: "RecordType")
        archiver.encode(CKRecord.ID(recordName: "näme", zoneID: zoneID), forKey: "RecordID")
        archiver.encode("a7" as NSString, forKey: "ETag")
        archiver.encode(NSDate(timeIntervalSince1970: 1_700_000_000.123), forKey: "RecordCtime")
        archiver.encode(NSDate(timeIntervalSince1970: 1_710_000_000.5), forKey: "RecordMtime")
        archiver.encode(CKRecord.ID(recordName: "_ada"), forKey: "CreatorUserRecordID")
        archiver.encode(CKRecord.ID(recordName: "_ben"), forKey: "LastModifiedUserRecordID")
        archiver.encode(reference("p"), forKey: "ParentReference")
        archiver.encode(reference("s"), forKey: "ShareReference")
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        record = try #require(CKRecord(coder: unarchiver))
    }

    /// Decodes bytes with the values that are stored beside them.
    private func unpacked(_ data: Data, of record: CKRecord) -> CKRecord? {
        CKRecord(
            compactSystemFields: data,
            recordType: record.recordType,
            recordID: record.recordID,
            changeTag: record.recordChangeTag
        )
    }

    @Test("Everything but the values comes back")
    func whole() throws {
        record["title"] = "Milk"
        let read = try #require(unpacked(record.compactSystemFields, of: record))
        #expect(read.recordType == "Note")
        #expect(read.recordID == record.recordID)
        #expect(read.recordChangeTag == "a7")
        #expect(read.creationDate != nil && read.share != nil)
        #expect(read.creationDate == record.creationDate)
        #expect(read.modificationDate == record.modificationDate)
        #expect(read.creatorUserRecordID == record.creatorUserRecordID)
        #expect(read.lastModifiedUserRecordID == record.lastModifiedUserRecordID)
        #expect(read.parent == record.parent)
        #expect(read.share == record.share)
        #expect(read.allKeys().isEmpty && read.changedKeys().isEmpty)
    }

    @Test("A record that this user made takes a few bytes")
    func short() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode("Note" as NSString, forKey: "RecordType")
        archiver.encode(CKRecord.ID(recordName: "n"), forKey: "RecordID")
        archiver.encode(NSDate(timeIntervalSince1970: 1_700_000_000.123), forKey: "RecordCtime")
        archiver.encode(NSDate(timeIntervalSince1970: 1_700_000_000.123), forKey: "RecordMtime")
        let user = CKRecord.ID(recordName: CKCurrentUserDefaultName)
        archiver.encode(user, forKey: "CreatorUserRecordID")
        archiver.encode(user, forKey: "LastModifiedUserRecordID")
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let record = try #require(CKRecord(coder: unarchiver))
        #expect(record.compactSystemFields.count <= 12)
        let read = try #require(unpacked(record.compactSystemFields, of: record))
        #expect(read.creationDate == record.creationDate)
        #expect(read.modificationDate == record.modificationDate)
        #expect(read.creatorUserRecordID == record.creatorUserRecordID)
        #expect(read.lastModifiedUserRecordID == record.lastModifiedUserRecordID)
    }

    @Test("What is missing is missing again")
    func sparse() throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        let read = try #require(unpacked(record.compactSystemFields, of: record))
        #expect(read.recordID == record.recordID)
        #expect(read.recordChangeTag == nil && read.creationDate == nil && read.parent == nil)
    }

    @Test("Bytes that are cut off, longer or none of these give nil")
    func broken() {
        let data = record.compactSystemFields
        for count in 0..<data.count {
            #expect(unpacked(data.prefix(count), of: record) == nil)
        }
        #expect(unpacked(data + [0], of: record) == nil)
        #expect(unpacked(Data("bplist00".utf8), of: record) == nil)
        for place in data.indices {
            var other = data
            other[place] ^= 0xFF
            // Any result is acceptable, as long as there is one.
            _ = unpacked(other, of: record)
        }
    }
}
