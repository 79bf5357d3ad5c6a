// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

// Other uses of the framework's classes besides calls: extensions, conformances to protocols of the
// app, generic code, collections.

protocol Identified {
    associatedtype Key: Hashable
    var key: Key { get }
}

extension CKRecord: Identified {
    var key: CKRecord.ID { recordID }
}

protocol RecordConvertible {
    static var recordType: CKRecord.RecordType { get }
    init?(record: CKRecord)
    func makeRecord(in zoneID: CKRecordZone.ID) -> CKRecord
}

struct Task: RecordConvertible, Equatable {
    static let recordType: CKRecord.RecordType = "Task"

    enum Field: String, CaseIterable {
        case title, done, tags, due
    }

    var title: String
    var isDone = false
    var tags: [String] = []
    var due: Date?

    init(title: String) { self.title = title }

    init?(record: CKRecord) {
        guard record.recordType == Self.recordType,
            let title = record[Field.title] as? String
        else { return nil }
        self.title = title
        isDone = record[Field.done] as? Bool ?? false
        tags = record[Field.tags] as? [String] ?? []
        due = record[Field.due] as? Date
    }

    func makeRecord(in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = CKRecord(recordType: Self.recordType, recordID: .init(zoneID: zoneID))
        record[Field.title] = title
        record[Field.done] = isDone
        record[Field.tags] = tags
        record[Field.due] = due
        return record
    }
}

extension CKRecord {
    /// The subscript that hundreds of apps have.
    subscript<Key: RawRepresentable>(key: Key) -> Any? where Key.RawValue == String {
        get { self[key.rawValue] }
        set { self[key.rawValue] = newValue as? CKRecordValue }
    }

    var archived: Data {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        encodeSystemFields(with: coder)
        coder.finishEncoding()
        return coder.encodedData
    }
}

extension CKDatabase {
    func fetchAll<Value: RecordConvertible>(_ type: Value.Type) async throws -> [Value] {
        let query = CKQuery(recordType: type.recordType, predicate: NSPredicate(value: true))
        var (results, cursor) = try await records(matching: query)
        var values = results.compactMap { try? $0.1.get() }.compactMap(Value.init(record:))
        while let next = cursor {
            (results, cursor) = try await records(continuingMatchFrom: next)
            values += results.compactMap { try? $0.1.get() }.compactMap(Value.init(record:))
        }
        return values
    }
}

extension Result where Success == CKRecord, Failure == Error {
    var title: String? { (try? get())?["title"] as? String }
}

// @unchecked Sendable because its superclass is, and it stores nothing.
final class NamedShare: CKShare, @unchecked Sendable {
    var name: String { self[CKShare.SystemFieldKey.title] as? String ?? "" }
}

@Suite("Calls around CKRecord")
struct CKRecordSubclassCalls {
    @Test("Values convert to records and back through extensions of the app's own")
    func conversions() {
        var task = Task(title: "Milk")
        task.tags = ["a", "b"]
        task.isDone = true
        let record = task.makeRecord(in: .default)
        #expect(Task(record: record) == task)
        #expect(record.key == record.recordID && !record.archived.isEmpty)
        func key<Value: Identified>(_ value: Value) -> Value.Key { value.key }
        #expect(key(record) == record.recordID)
        #expect(Result<CKRecord, Error>.success(record).title == "Milk")
        #expect(Set(Task.Field.allCases.map(\.rawValue)).isSuperset(of: record.allKeys()))
        let grouped = Dictionary(grouping: [record], by: \.recordType)
        #expect(grouped["Task"]?.count == 1)
        #expect([record].sorted { $0.recordID.recordName < $1.recordID.recordName }.count == 1)
        #expect([record.recordID: record][record.recordID] === record)
    }

    @Test("Keys and values travel as key-value coding has them")
    func keyValueCoding() {
        let record = CKRecord(recordType: "Note")
        record.setValue("Milk", forKey: "title")
        record.setValue(3, forKey: "count")
        record.setValue(nil, forKey: "none")
        record.setValuesForKeys(["a": 1, "b": "two"])
        #expect(record.value(forKey: "title") as? String == "Milk")
        #expect(record.value(forKey: "count") as? Int == 3)
        #expect(record.value(forKey: "none") == nil)
        let values = record.dictionaryWithValues(forKeys: ["a", "b"])
        #expect(values["a"] as? Int == 1 && values["b"] as? String == "two")
    }

    @Test("Every number is read as every number that it fits")
    func numbers() {
        let record = CKRecord(recordType: "Note")
        record["n"] = 5
        #expect(record["n"] as? Int == 5 && record["n"] as? Int8 == 5)
        #expect(record["n"] as? Int16 == 5 && record["n"] as? Int32 == 5)
        #expect(record["n"] as? Int64 == 5 && record["n"] as? UInt == 5)
        #expect(record["n"] as? UInt8 == 5 && record["n"] as? UInt16 == 5)
        #expect(record["n"] as? UInt32 == 5 && record["n"] as? UInt64 == 5)
        #expect(record["n"] as? Double == 5 && record["n"] as? Float == 5)
        record["d"] = 2.5
        #expect(record["d"] as? Double == 2.5 && record["d"] as? Float == 2.5)
        #expect(record["d"] as? Int == nil)
        record["b"] = true
        #expect(record["b"] as? Bool == true && record["b"] as? Int == 1)
        record["list"] = [1, 2]
        #expect(record["list"] as? [Int] == [1, 2] && record["list"] as? [Int64] == [1, 2])
        #expect(record["list"] as? [Double] == [1, 2])
        #expect((record["list"] as? [NSNumber])?.count == 2)
        #expect((record["list"] as? [Any])?.count == 2)
        #expect((record["list"] as? NSArray)?.firstObject as? Int == 1)
        record["flags"] = [true, false]
        #expect(record["flags"] as? [Bool] == [true, false])
        record["words"] = ["a"]
        #expect(record["words"] as? [String] == ["a"] && record["words"] as? [Int] == nil)
        record["dates"] = [Date(timeIntervalSinceReferenceDate: 1)]
        #expect((record["dates"] as? [Date])?.count == 1)
        record["blobs"] = [Data([1])]
        #expect(record["blobs"] as? [Data] == [Data([1])])
        record["places"] = [CLLocation(latitude: 1, longitude: 2)]
        #expect((record["places"] as? [CLLocation])?.first?.coordinate.latitude == 1)
    }
}
