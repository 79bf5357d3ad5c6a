import Foundation
import Testing

@testable import CloudKit

@Suite("System fields in a few bytes")
struct CompactSystemFieldsTests {
    private let record = {
        let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: "_ada")
        var system = SystemFields(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: "näme", zoneID: zoneID)
        )
        system.changeTag = "a7"
        system.creationDate = Date(timeIntervalSince1970: 1_700_000_000.123)
        system.modificationDate = Date(timeIntervalSince1970: 1_710_000_000.5)
        system.creator = CKRecord.ID(recordName: "_ada")
        system.modifier = CKRecord.ID(recordName: "_ben")
        system.parent = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "p", zoneID: zoneID),
            action: .none
        )
        system.share = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "s", zoneID: zoneID),
            action: .none
        )
        return CKRecord(system: system)
    }()

    @Test("Everything but the values comes back")
    func whole() throws {
        record["title"] = "Milk"
        let read = try #require(CKRecord(compactSystemFields: record.compactSystemFields))
        #expect(read.recordType == "Note")
        #expect(read.recordID == record.recordID)
        #expect(read.recordChangeTag == "a7")
        #expect(read.creationDate == record.creationDate)
        #expect(read.modificationDate == record.modificationDate)
        #expect(read.creatorUserRecordID == record.creatorUserRecordID)
        #expect(read.lastModifiedUserRecordID == record.lastModifiedUserRecordID)
        #expect(read.parent == record.parent)
        #expect(read.share == record.share)
        #expect(read.allKeys().isEmpty && read.changedKeys().isEmpty)
    }

    @Test("What is missing is missing again")
    func sparse() throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        let read = try #require(CKRecord(compactSystemFields: record.compactSystemFields))
        #expect(read.recordID == record.recordID)
        #expect(read.recordChangeTag == nil && read.creationDate == nil && read.parent == nil)
    }

    @Test("Bytes that are cut off, longer or none of these give nil")
    func broken() {
        let data = record.compactSystemFields
        for count in 0..<data.count {
            #expect(CKRecord(compactSystemFields: data.prefix(count)) == nil)
        }
        #expect(CKRecord(compactSystemFields: data + [0]) == nil)
        #expect(CKRecord(compactSystemFields: Data("bplist00".utf8)) == nil)
        for place in data.indices {
            var other = data
            other[place] ^= 0xFF
            // Any answer will do, as long as there is one.
            _ = CKRecord(compactSystemFields: other)
        }
    }
}
