// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

// The forms in which apps put values into records and take them out again, most of them older than
// the subscripts that need no cast.

@Suite("Values of records")
struct CKRecordValueCalls {
    private let record = CKRecord(recordType: "Note")
    private let day = Date(timeIntervalSinceReferenceDate: 86400)

    @Test("Swift's values are stored as CKRecordValue, optional or not")
    func asRecordValue() {
        let title = "Milk"
        let subtitle: String? = "2 litres"
        let none: Date? = nil
        let count = 5
        record["title"] = title as CKRecordValue
        record["subtitle"] = subtitle as CKRecordValue?
        record["none"] = none as CKRecordValue?
        record["count"] = count as CKRecordValue
        record["literal"] = 7 as CKRecordValue
        record["price"] = 1.5 as CKRecordValue
        record["done"] = true as CKRecordValue
        record["day"] = day as CKRecordValue
        record["data"] = Data([1]) as CKRecordValue
        record["tags"] = ["a", "b"] as CKRecordValue
        record["place"] = CLLocation(latitude: 1, longitude: 2) as CKRecordValue
        record["other"] = CKRecord.Reference(record: record, action: .none) as CKRecordValue
        record["others"] =
            [CKRecord.Reference(record: record, action: .none)] as CKRecordValue
        record["mapped"] = subtitle.map { $0 as CKRecordValue }
        record["chosen"] = subtitle == nil ? nil : title as CKRecordValue
        #expect(record["title"] as? String == "Milk" && record["mapped"] as? String == subtitle)
        #expect(record["none"] == nil && record["chosen"] as! String == "Milk")
        #expect(record["count"] as? Int == 5 && record["literal"] as? Int == 7)
        #expect(record["price"] as? Double == 1.5 && record["done"] as? Bool == true)
        #expect(record["day"] as? Date == day && record["data"] as? Data == Data([1]))
        #expect(record["tags"] as? [String] == ["a", "b"])
        #expect((record["others"] as? [CKRecord.Reference])?.first == record["other"])
        record["title"] = nil
        record["subtitle"] = nil as CKRecordValue?
        #expect(record["title"] == nil && record["subtitle"] == nil)
    }

    @Test("Objects of Foundation are stored as they are")
    func asObjects() {
        let title: String? = "Milk"
        record["title"] = "Milk" as NSString
        record["optional"] = title as NSString?
        record["count"] = 5 as NSNumber
        record["long"] = NSNumber(value: Int64(5))
        record["done"] = NSNumber(value: true)
        record["price"] = 1.5 as NSNumber
        record["day"] = day as NSDate
        record["data"] = Data([1]) as NSData
        record["tags"] = ["a"] as NSArray
        record["days"] = [day] as NSArray
        record["mutable"] = NSMutableArray(array: ["x", "y"])
        record["text"] = NSMutableString(string: "x")
        #expect(record["title"] as? String == "Milk" && record["optional"] as? String == "Milk")
        #expect(record["count"] as? Int == 5 && record["long"] as? Int64 == 5)
        #expect(record["done"] as? Bool == true && record["price"] as? Double == 1.5)
        #expect(record["day"] as? Date == day && record["data"] as? Data == Data([1]))
        #expect(record["tags"] as? [String] == ["a"] && record["days"] as? [Date] == [day])
        #expect(record["mutable"] as? [String] == ["x", "y"] && record["text"] as? String == "x")
    }

    @Test("setObject and setValue take what the subscripts take")
    func setters() {
        let title: String? = "Milk"
        let anything: Any = "Tea"
        record.setObject("a" as CKRecordValue, forKey: "a")
        record.setObject(title as CKRecordValue?, forKey: "b")
        record.setObject(5 as NSNumber, forKey: "c")
        record.setObject(day as NSDate, forKey: "d")
        record.setObject(["x"] as NSArray, forKey: "e")
        record.setObject(anything as? CKRecordValue, forKey: "f")
        record.setObject(anything as? __CKRecordObjCValue, forKey: "g")
        record.setValue(title, forKey: "h")
        record.setValue(anything, forKey: "i")
        #expect(Set(record.allKeys()) == ["a", "b", "c", "d", "e", "f", "g", "h", "i"])
        #expect(record.object(forKey: "b") as? String == "Milk")
        #expect(record.object(forKey: "c") as! NSNumber == 5)
        #expect(record.value(forKey: "h") as! String == "Milk")
        record.setObject(nil, forKey: "a")
        record.setValue(nil, forKey: "b")
        #expect(record.allKeys().count == 7 && record.changedKeys().count == 9)
    }

    @Test("Values whose type is not known are cast to CKRecordValue")
    func unknown() {
        let values: [String: Any] = ["title": "Milk", "count": 5, "tags": ["a"], "bad": URL.self]
        for (key, value) in values { record[key] = value as? CKRecordValue }
        #expect(Set(record.allKeys()) == ["title", "count", "tags"])
        for (key, value) in values where key != "bad" {
            record[key] = (value as! CKRecordValue)
            record[key] = value as? CKRecordValueProtocol
            record.setValue(value, forKey: key)
        }
        let known: [String: CKRecordValue] = [
            "title": "Tea" as CKRecordValue, "day": day as NSDate,
        ]
        for (key, value) in known { record[key] = value }
        let mixed: [String: CKRecordValueProtocol?] = ["count": 6, "place": nil]
        for (key, value) in mixed { record[key] = value }
        #expect(record["title"] as? String == "Tea" && record["day"] as? Date == day)
        #expect(record["count"] as? Int == 6 && record["place"] == nil)
        #expect(record["tags"] as? [String] == ["a"])
    }

    @Test("A value is read as every class and list that it can be")
    func casts() {
        record["text"] = "x"
        record["number"] = 3
        record["day"] = day
        record["data"] = Data([1])
        #expect(record["text"] as? NSString == "x" && record["number"] as? NSNumber == 3)
        #expect(record["day"] as? NSDate == day as NSDate)
        #expect(record["data"] as? NSData == Data([1]) as NSData)
        #expect(record["text"] as? NSNumber == nil && record["number"] as? String == nil)
        #expect((record["text"] as? NSObject) != nil && record["number"] is NSNumber)

        record["texts"] = ["x"]
        record["numbers"] = [1, 2]
        record["days"] = [day]
        record["blobs"] = [Data([1])]
        record["places"] = [CLLocation(latitude: 1, longitude: 2)]
        record["references"] = [CKRecord.Reference(record: record, action: .none)]
        record["assets"] = [CKAsset(fileURL: URL(fileURLWithPath: "/photo"))]
        #expect(record["texts"] as? [String] == ["x"] && record["texts"] as? [NSString] == ["x"])
        #expect(record["texts"] as? NSArray == ["x"] as NSArray)
        #expect(
            record["numbers"] as? [Float] == [1, 2] && record["numbers"] as? [Int32] == [1, 2]
        )
        #expect(record["numbers"] as? [NSNumber] == [1, 2])
        #expect(record["numbers"] as? [String] == nil)
        #expect(record["days"] as? [Date] == [day] && record["blobs"] as? [Data] == [Data([1])])
        #expect((record["days"] as? [NSDate])?.count == 1)
        #expect((record["places"] as? [CLLocation])?.first?.coordinate.longitude == 2)
        #expect(
            (record["references"] as? [CKRecord.Reference])?.map(\.recordID) == [record.recordID]
        )
        #expect((record["assets"] as? [CKAsset])?.first?.fileURL?.path == "/photo")
        #expect((record["texts"] as? [Any])?.count == 1)
    }

    /// Returns an app's text for a field, by its type.
    private func text(_ key: String) -> String {
        switch record[key] {
        case let text as String: return text
        case let count as Int64: return "\(count)"
        case let day as Date: return "\(day.timeIntervalSinceReferenceDate)"
        case let data as Data: return "\(data.count) bytes"
        case let place as CLLocation: return "\(place.coordinate.latitude)"
        case let reference as CKRecord.Reference: return reference.recordID.recordName
        case let asset as CKAsset: return asset.fileURL?.lastPathComponent ?? ""
        case let texts as [String]: return texts.joined()
        case is NSArray: return "list"
        case nil: return "none"
        default: return "unknown"
        }
    }

    @Test("A field is switched over by its type")
    func switching() {
        record["text"] = "x"
        record["count"] = 3
        record["day"] = day
        record["data"] = Data([1, 2])
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["owner"] = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "o"),
            action: .none
        )
        record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: "/photo"))
        record["tags"] = ["a", "b"]
        record["counts"] = [1]
        #expect(
            ["text", "count", "day", "data", "place", "owner", "photo", "tags", "counts", "no"]
                .map(text)
                == ["x", "3", "86400.0", "2 bytes", "1.0", "o", "photo", "ab", "list", "none"]
        )
        if case let count as Int = record["count"] { #expect(count == 3) }
        guard case .some(let value) = record["text"] else {
            Issue.record("no text")
            return
        }
        #expect(value as? String == "x")
    }

    @Test("The type of a variable decides what a field is read as")
    func typed() {
        record["count"] = 3
        record["tags"] = ["a"]
        let count: Int = record["count"]!
        let long: Int64 = record["count"] ?? 0
        let missing: [Double] = record["missing"] ?? []
        let tags: [String]? = record["tags"]
        let number: NSNumber? = record["count"]
        let value: CKRecordValue? = record["count"]
        let other: CKRecordValueProtocol? = record["count"]
        #expect(count == 3 && long == 3 && missing.isEmpty && tags == ["a"] && number == 3)
        #expect(value as? Int == 3 && other as? Int == 3)
        #expect(record["count"] as Int? == 3 && record["missing"] as String? == nil)
        #expect(record["count"] as! Int? == 3 && record["missing"] as! String? == nil)
        record["count"] = (record["count"] as? Int ?? 0) + 1
        record["count"]! += 1 as Int
        #expect(record["count"] as? Int == 5)
    }

    @Test("Fields are compared with each other and copied from record to record")
    func copies() {
        record["title"] = "Milk"
        record["count"] = 3
        record["tags"] = ["a"]
        let copy = CKRecord(recordType: "Note")
        for key in record.allKeys() { copy[key] = record[key] }
        #expect(Set(copy.allKeys()) == ["title", "count", "tags"])
        for key in record.allKeys() {
            #expect(record[key]?.isEqual(copy[key]) == true)
            #expect((record[key] as? NSObject)?.isEqual(copy[key]) == true)
        }
        #expect(record["title"]?.isEqual(record["count"]) == false)
        #expect(record["title"]?.isEqual(nil) == false)
        #expect(record["title"]?.description == "Milk" && record["count"]?.description == "3")
        for (key, value) in record { copy[key] = value }
        for key in record.allKeys() { copy.setObject(record.object(forKey: key), forKey: key) }
        for key in record.allKeys() { copy.setValue(record.value(forKey: key), forKey: key) }
        #expect(copy["title"] as? String == "Milk" && copy["count"] as? Int == 3)
        copy["renamed"] = record["title"]
        #expect(copy["renamed"] as? String == "Milk")
    }

    private func write(_ value: some CKRecordValueProtocol, _ key: String) { record[key] = value }
    private func writeObject<Value: CKRecordValue>(_ value: Value, _ key: String) {
        record.setObject(value, forKey: key)
        record[key] = value
    }
    private func writeAny(_ value: any CKRecordValueProtocol, _ key: String) {
        record[key] = value
        record.encryptedValues[key] = value
    }

    @Test("Generic code writes values of all types, encrypted ones too")
    func generic() {
        write(1, "a")
        write([day], "b")
        writeObject("x", "c")
        writeObject("x" as NSString, "d")
        writeAny(true, "e")
        record.encryptedValues["f"] = "x" as CKRecordValue
        record.encryptedValues["g"] = ["x"] as NSArray
        record.encryptedValues.setObject(5 as NSNumber, forKey: "h")
        record.encryptedValues["i"] = nil
        #expect(Set(record.allKeys()) == ["a", "b", "c", "d", "e"])
        #expect(Set(record.encryptedValues.allKeys()) == ["e", "f", "g", "h"])
        #expect(record.encryptedValues["e"] as? Bool == true)
        #expect(record.encryptedValues["g"] as? [String] == ["x"])
        #expect(record.encryptedValues.object(forKey: "h") as? Int == 5)
    }
}
