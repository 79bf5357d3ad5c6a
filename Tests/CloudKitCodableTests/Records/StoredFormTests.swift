import CloudKit
import CloudKitCodable
import Foundation
import Testing

@Suite("Stored forms")
struct StoredFormTests {
    @Test("What is written in either form is read, whatever the reader writes itself")
    func bothForms() throws {
        let value = Everything()
        for forms in [CloudKitRecordForms.original, .native] {
            let encoder = CloudKitRecordEncoder()
            encoder.forms = forms
            let record = try encoder.encode(value)
            #expect(
                try CloudKitRecordDecoder().decode(Everything.self, from: record) == value
            )
            #expect(
                try CloudKitGraphDecoder().decode(
                    Everything.self,
                    from: [record],
                    root: record.recordID
                ) == value
            )
            let person = try encoder.encode(Person.rambo())
            #expect((person["key"] is String) == (forms == .native))
            var decoded = try CloudKitRecordDecoder().decode(Person.self, from: person)
            decoded.cloudKitSystemFields = nil
            #expect(decoded == Person.rambo())
        }
    }

    struct Gaps: Codable, Equatable {
        var numbers: [Int?]
        var note: String?
        var theme: Theme?
    }

    @Test("Lists of optionals are read from lists and from bytes, and null bytes are nil")
    func optionals() throws {
        let record = CKRecord(recordType: "Gaps")
        record["numbers"] = [1, 2]
        record["note"] = Data("null".utf8)
        record["theme"] = Data("null".utf8)
        let decoder = CloudKitRecordDecoder()
        #expect(
            try decoder.decode(Gaps.self, from: record)
                == Gaps(numbers: [1, 2], note: nil, theme: nil)
        )
        record["numbers"] = Data("[1,null]".utf8)
        #expect(try decoder.decode(Gaps.self, from: record).numbers == [1, nil])
    }

    @Test("Values that were read wrongly and silently are errors")
    func strictness() throws {
        struct Flags: Codable { var isOn: Bool }
        struct Count: Codable { var count: Int }
        let record = CKRecord(recordType: "Any")
        record["isOn"] = 2
        record["count"] = Data("7".utf8)
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Flags.self, from: record)
        }
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Count.self, from: record)
        }
        record["isOn"] = 1
        record["count"] = 3.0
        #expect(try CloudKitRecordDecoder().decode(Flags.self, from: record).isOn)
        #expect(try CloudKitRecordDecoder().decode(Count.self, from: record).count == 3)
        record["count"] = 3.5
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Count.self, from: record)
        }
    }

    @Test("A number is neither a date nor a list, and the error says what was found")
    func numbers() throws {
        struct Day: CloudKitModel, Codable {
            var date: Date?
            var dates: [Date]?
            var counts: Set<Int>?
            var recordName: String { "day" }
        }
        for field in ["date", "dates", "counts"] {
            for number in [1_700_000_000, 1.5] {
                let record = CKRecord(
                    recordType: "Day",
                    recordID: CKRecord.ID(recordName: "day")
                )
                record[field] = number
                let error = #expect(throws: DecodingError.self) {
                    try CloudKitRecordDecoder().decode(Day.self, from: record)
                }
                guard case .typeMismatch(_, let context)? = error else {
                    Issue.record("\(field): not a mismatch")
                    continue
                }
                #expect(context.codingPath.map(\.stringValue) == [field])
                let found = context.debugDescription
                #expect(found.contains("found INT64") || found.contains("found DOUBLE"))
                #expect(found.contains("Date") || found.contains("Set<Int>"), "\(found)")
            }
        }
    }

    @Test("System fields of a record of another type are an error")
    func otherType() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        CKRecord(recordType: "Dog").encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        var person = Person.rambo()
        person.cloudKitSystemFields = archiver.encodedData
        #expect(throws: CloudKitRecordEncodingError.self) {
            try CloudKitRecordEncoder().encode(person)
        }
    }

    @Test("A record without the identifier's field decodes: its name is enough")
    func identifier() throws {
        let record = try CloudKitRecordEncoder().encode(Person.rambo("from elsewhere"))
        record["cloudKitIdentifier"] = nil
        let person = try CloudKitRecordDecoder().decode(Person.self, from: record)
        #expect(person.cloudKitIdentifier == "from elsewhere")
    }

    @Test("A number of a record is read as a decimal by its shortest text, unless it is none")
    func decimals() throws {
        struct Price: Codable, Equatable { var price: Decimal }
        let record = CKRecord(recordType: "Price")
        record["price"] = 1.1
        #expect(
            try CloudKitRecordDecoder().decode(Price.self, from: record)
                == Price(price: Decimal(string: "1.1")!)
        )
        for number in [Double.nan, .infinity, -1e300] {
            record["price"] = number
            #expect(throws: DecodingError.self) {
                try CloudKitRecordDecoder().decode(Price.self, from: record)
            }
        }
    }

    @Test("JSON that was cut off is an error that names the field and the record")
    func truncated() throws {
        struct Holder: Codable { var theme: Theme }
        let record = CKRecord(recordType: "Holder", recordID: CKRecord.ID(recordName: "h"))
        record["theme"] = Data(#"{"name":"da"#.utf8)
        let error = #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Holder.self, from: record)
        }
        #expect("\(try #require(error))".contains("field theme"))
        record["theme"] = Data(#"{"name":5}"#.utf8)
        guard
            case .typeMismatch(_, let context)? = #expect(
                throws: DecodingError.self,
                performing: { try CloudKitRecordDecoder().decode(Holder.self, from: record) }
            )
        else {
            Issue.record("not a mismatch")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["theme", "name"])
    }
}
