// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

// Every form in which apps write these calls; code that compiles here compiles on Apple platforms.

extension CKRecord.FieldKey {
    static let title = "title"
}

extension CKRecord.ID {
    var isDraft: Bool { recordName.hasPrefix("draft-") }
}

extension CKRecord {
    subscript(flag key: String) -> Bool {
        get { self[key] as? Bool ?? false }
        set { self[key] = newValue }
    }
}

protocol Titled {
    var title: String? { get }
}

extension CKRecord: Titled {
    var title: String? { self["title"] as? String }
}

enum Mood: String {
    case good
    case bad
}

@Suite("Calls of CKRecord")
struct CKRecordCalls {
    @Test("Values of all types are stored and cast in all usual forms")
    func values() throws {
        let record = CKRecord(recordType: "Note")
        let optional: String? = "x"
        let none: Int? = nil
        record["title"] = "Milk"
        record[.title] = "Milk"
        record["title"] = "Milk" as CKRecordValue
        record["title"] = "Milk" as NSString
        record["optional"] = optional
        record["optional"] = optional as CKRecordValue?
        record["none"] = none
        record["none"] = nil
        record["count"] = 5
        record["price"] = 9.5
        record["ratio"] = Float(0.5)
        record["flag"] = true
        record[flag: "flag"] = true
        record["small"] = Int8(3)
        record["large"] = UInt64(3)
        record["number"] = NSNumber(value: 7)
        record["number"] = 7 as NSNumber
        record["date"] = Date()
        record["data"] = Data([1, 2])
        record["tags"] = ["a", "b"]
        record["numbers"] = [1, 2, 3]
        record["dates"] = [Date()] as [Date]
        record["array"] = ["a"] as NSArray
        record["empty"] = [String]()
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["mood"] = Mood.good.rawValue
        record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: "/photo"))
        record["owner"] = CKRecord.Reference(recordID: record.recordID, action: .deleteSelf)
        record["others"] = [CKRecord.Reference(record: record, action: .none)]
        record.setObject("Tea" as NSString, forKey: "drink")
        record.setValue(3, forKey: "kvc")
        record.setObject(nil, forKey: "gone")

        let title: String? = record["title"]
        let copy: String = record["title"] ?? "untitled"
        #expect(title == "Milk" && copy == "Milk")
        #expect(record["title"] as? String == "Milk")
        #expect(record["title"] as! String == "Milk")
        #expect(record.object(forKey: "title") as? NSString == "Milk")
        #expect(record.value(forKey: "kvc") as? Int == 3)
        #expect(record["count"] as? Int == 5)
        #expect(record["count"] as? Int64 == 5)
        #expect(record["count"] as? Double == 5)
        #expect((record["count"] as? NSNumber)?.intValue == 5)
        #expect(record["flag"] as? Bool == true)
        #expect(record["price"] as? Double == 9.5)
        #expect(record["date"] as? Date != nil)
        #expect(record["data"] as? Data == Data([1, 2]))
        #expect(record["tags"] as? [String] == ["a", "b"])
        #expect(record["numbers"] as? [Int] == [1, 2, 3])
        #expect((record["tags"] as? NSArray)?.count == 2)
        #expect(record["place"] is CLLocation)
        #expect((record["photo"] as? CKAsset)?.fileURL?.path == "/photo")
        #expect((record["owner"] as? CKRecord.Reference)?.action == .deleteSelf)
        #expect((record["others"] as? [CKRecord.Reference])?.count == 1)
        #expect(Mood(rawValue: record["mood"] as? String ?? "") == .good)
        #expect(record["none"] == nil)
        #expect(record.title == "Milk")
        if let count = record["count"] as? Int, count > 3 {} else { Issue.record("no count") }
        for (key, value) in record where key == "count" { #expect(value as? Int == 5) }
        #expect(record.allKeys().contains("title"))
        #expect(record.changedKeys().contains("gone"))
        #expect(!record.allTokens().isEmpty)
    }

    @Test("Encrypted values, parents and system fields")
    func rest() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)
        let id = CKRecord.ID(recordName: "draft-1", zoneID: zoneID)
        let record = CKRecord(recordType: "Note", recordID: id)
        record.encryptedValues["secret"] = "s"
        record.encryptedValues[.title] = "t"
        let secret: String? = record.encryptedValues["secret"]
        #expect(secret == "s" && record.encryptedValues["secret"] as? String == "s")
        let parent = CKRecord(recordType: "List", recordID: CKRecord.ID(zoneID: zoneID))
        record.setParent(parent)
        record.setParent(parent.recordID)
        record.parent = CKRecord.Reference(record: parent, action: .none)
        #expect(record.parent?.recordID == parent.recordID)
        #expect(record.recordID.isDraft && record.creationDate == nil)
        #expect(record.recordChangeTag == nil && record.creatorUserRecordID == nil)
        #expect([id: 1][CKRecord.ID(recordName: "draft-1", zoneID: zoneID)] == 1)

        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        guard let read = CKRecord(coder: unarchiver) else {
            Issue.record("no record")
            return
        }
        unarchiver.finishDecoding()
        #expect(read.recordID == id)
        #expect((record.copy() as! CKRecord).recordID == id)
    }
}
