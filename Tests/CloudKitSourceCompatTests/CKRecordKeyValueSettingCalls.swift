// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Keys of an app's own, for plain and encrypted values alike.
enum NoteKey: String {
    case title, stars, secret
}

extension CKRecordKeyValueSetting {
    subscript(key: NoteKey) -> (any CKRecordValueProtocol)? {
        get { self[key.rawValue] as (any CKRecordValueProtocol)? }
        set { self[key.rawValue] = newValue }
    }

    func value<Value: CKRecordValueProtocol>(_ key: NoteKey, or standard: Value) -> Value {
        self[key.rawValue] as? Value ?? standard
    }
}

/// A seam between an app's mapping and its target.
protocol FieldWriter {
    func write(to fields: any CKRecordKeyValueSetting)
}

struct NoteFields: FieldWriter {
    var title: String
    var stars: Int

    func write(to fields: any CKRecordKeyValueSetting) {
        fields.setObject(title as NSString, forKey: "title")
        fields["stars"] = stars as any CKRecordValueProtocol
    }
}

@Suite("Calls of CKRecordKeyValueSetting")
struct CKRecordKeyValueSettingCalls {
    @Test("An app's own keys, mappings and defaults work on plain and encrypted values")
    func writing() {
        let record = CKRecord(recordType: "Note")
        NoteFields(title: "Milk", stars: 3).write(to: record)
        NoteFields(title: "Secret", stars: 5).write(to: record.encryptedValues)
        record[.secret] = "plain"
        #expect(record.value(.title, or: "") == "Milk")
        #expect(record.value(.stars, or: 0) == 3)
        #expect(record.encryptedValues.value(.title, or: "") == "Secret")
        #expect(record.encryptedValues.value(.secret, or: "none") == "none")
        #expect(record.object(forKey: "title") as? String == "Milk")
        #expect(Set(record.allKeys()) == ["title", "stars", "secret"])
        #expect(Set(record.encryptedValues.allKeys()) == ["title", "stars"])
        #expect(Set(record.encryptedValues.changedKeys()) == ["title", "stars"])
        record[.secret] = nil
        #expect(record["secret"] == nil)
    }

    @Test("A record is a sequence of keys and values")
    func iterating() {
        let record = CKRecord(recordType: "Note")
        record.setValuesForKeys(["title": "Milk", "stars": 3])
        var keys: [CKRecord.FieldKey] = []
        for (key, value) in record {
            keys.append(key)
            #expect(value is String || value is NSNumber)
        }
        #expect(keys.sorted() == ["stars", "title"])
        var iterator: CKRecordKeyValueIterator = record.makeIterator()
        let element: CKRecord.Element? = iterator.next()
        #expect(element != nil)
        let titles = record.compactMap { key, value in key == "title" ? value as? String : nil }
        #expect(titles == ["Milk"])
    }

    @Test("An error says that the user's encrypted data was reset, by its key")
    func encryptedDataReset() {
        let error = CKError(
            .zoneNotFound,
            userInfo: [CKErrorUserDidResetEncryptedDataKey: NSNumber(value: true)]
        )
        let isReset = error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool
        #expect(error.code == .zoneNotFound && isReset == true)
    }
}
