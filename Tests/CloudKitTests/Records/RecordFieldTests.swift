import CloudKit
import Testing

@Suite("The fields of a record")
struct RecordFieldTests {
    let record = CKRecord(recordType: "Note")

    @Test("Every form in which apps set a field compiles and stores the value")
    func forms() throws {
        record["string"] = "Milk"
        record["string2"] = "Milk" as any CKRecordValue
        record["string3"] = "Milk" as NSString
        let optional: String? = "Milk"
        record["optional"] = optional
        record["optional2"] = optional as (any CKRecordValue)?
        record["int"] = 5
        record["double"] = 2.5
        record["bool"] = true
        record["date"] = Date(timeIntervalSince1970: 1)
        record["data"] = Data([1, 2])
        record["strings"] = ["a", "b"]
        record["ints"] = [1, 2]
        record["location"] = CLLocation(latitude: 1, longitude: 2)
        record["reference"] = CKRecord.Reference(record: record, action: .deleteSelf)
        record["references"] = [CKRecord.Reference(record: record, action: .none)]
        record["asset"] = CKAsset(fileURL: URL(fileURLWithPath: "/nowhere"))
        record.setObject("x" as NSString, forKey: "object")
        record.setValue(3, forKey: "value")
        record["nothing"] = nil

        #expect(record["string"] as? String == "Milk")
        #expect(record["string"] == "Milk")
        let typed: String? = record["string2"]
        #expect(typed == "Milk")
        #expect(record["string3"] as? String == "Milk")
        #expect(record["string"] as? NSString == "Milk")
        #expect(record["optional"] as? String == "Milk")
        #expect((record["absent"] ?? "default") == "default")
        #expect(record["int"] as? Int == 5)
        #expect(record["int"] as? Int64 == 5)
        #expect(record["int"] as? Double == 5)
        #expect(record["int"] as? NSNumber == 5)
        #expect(record["double"] as? Double == 2.5)
        #expect(record["bool"] as? Bool == true)
        #expect(record["bool"] as? Int == 1)
        #expect(record["date"] as? Date == Date(timeIntervalSince1970: 1))
        #expect(record["date"] as? NSDate == NSDate(timeIntervalSince1970: 1))
        #expect(record["data"] as? Data == Data([1, 2]))
        #expect(record["strings"] as? [String] == ["a", "b"])
        #expect(record["strings"] as? NSArray == ["a", "b"])
        #expect(record["ints"] as? [Int] == [1, 2])
        #expect(record["ints"] as? [Int64] == [1, 2])
        #expect(record["ints"] as? [Double] == [1, 2])
        #expect((record["location"] as? CLLocation)?.coordinate.longitude == 2)
        #expect((record["reference"] as? CKRecord.Reference)?.action == .deleteSelf)
        #expect((record["references"] as? [CKRecord.Reference])?.count == 1)
        #expect((record["asset"] as? CKAsset)?.fileURL?.path == "/nowhere")
        #expect(record.object(forKey: "object") as? String == "x")
        #expect(record.value(forKey: "value") as? Int == 3)
        #expect(record["nothing"] == nil)
        #expect(!record.allKeys().contains("nothing"))
        #expect(record.changedKeys().contains("nothing"))
    }

    @Test(
        "Every integer type is stored and read back exactly",
        arguments: [Int64.min, -1, 0, 1, 255, Int64(Int32.max) + 1, Int64.max]
    )
    func integers(value: Int64) {
        record["n"] = value
        #expect(record["n"] == value)
        #expect(record["n"] == Int8(exactly: value))
        #expect(record["n"] == UInt8(exactly: value))
        #expect(record["n"] == Int16(exactly: value))
        #expect(record["n"] == UInt16(exactly: value))
        #expect(record["n"] == Int32(exactly: value))
        #expect(record["n"] == UInt32(exactly: value))
        #expect(record["n"] == UInt64(exactly: value))
        #expect(record["n"] == UInt(exactly: value))
        #expect(record["n"] == Int(exactly: value))
    }

    @Test("An unsigned integer beyond Int64 is kept, not wrapped")
    func unsigned() {
        record["n"] = UInt64.max
        #expect(record["n"] == UInt64.max)
        #expect(record["n"] as? UInt64 == UInt64.max)
        let signed: Int64? = record["n"]
        #expect(signed == nil)
    }

    @Test("A typed read of another type gives nil instead of ending the process")
    func mismatch() {
        record["s"] = "text"
        record["d"] = 2.5
        let number: Int? = record["s"]
        let text: String? = record["d"]
        let integer: Int? = record["d"]
        let list: [Int]? = record["s"]
        #expect(number == nil && text == nil && integer == nil && list == nil)
    }

    @Test("Encrypted and plain fields are disjoint")
    func encrypted() {
        record["plain"] = 1
        record.encryptedValues["secret"] = "s"
        #expect(record["secret"] == nil)
        #expect(record.encryptedValues["secret"] == "s")
        #expect(record.allKeys() == ["plain"])
        #expect(record.encryptedValues.allKeys() == ["secret"])
        #expect(record.encryptedValues.changedKeys() == ["secret"])
    }

    @Test("A copy has the same values and changes, and is independent")
    func copies() throws {
        record["a"] = 1
        let copy = try #require(record.copy() as? CKRecord)
        copy["a"] = 2
        #expect(record["a"] == 1)
        #expect(copy.recordID == record.recordID)
        #expect(copy.changedKeys() == ["a"])
    }

    @Test("Iterating gives each field once, in alphabetical order")
    func iteration() {
        record["b"] = 1
        record["a"] = "x"
        #expect(record.map(\.0) == ["a", "b"])
    }
}
