import CloudKit
import CloudKitCodable
import Foundation
import Testing
import UniformTypeIdentifiers

@Suite("The API of CloudKitCodable")
struct DropInTests {
    let zoneID = CKRecordZone.ID(zoneName: "ABCDE", ownerName: "OwnerABCD")

    @Test("A value becomes a record in the original's forms")
    func forms() throws {
        let record = try CloudKitRecordEncoder(zoneID: zoneID).encode(Person.rambo())
        #expect(record.recordType == "Person")
        #expect(record.recordID.recordName == "rambo")
        #expect(record.recordID.zoneID == zoneID)
        #expect(record["name"] as? String == "Rambo")
        #expect(record["age"] as? Int == 26)
        #expect(record["isDeveloper"] as? Bool == true)
        #expect(record["website"] as? String == "https://example.com/a?b=c")
        #expect(record["key"] == Data(#""9C2E7C7B-6F0B-4C0A-8C5B-0D8A2E0B7F10""#.utf8))
        #expect(record["cloudKitSystemFields"] == nil)
        #expect(record["cloudKitIdentifier"] as? String == "rambo")
        #expect(record["avatar"] == nil)
    }

    @Test("A value comes back with the system fields of its record, and encodes onto it")
    func systemFields() throws {
        let record = try CloudKitRecordEncoder(zoneID: zoneID).encode(Person.rambo())
        var person = try CloudKitRecordDecoder().decode(Person.self, from: record)
        #expect(person.cloudKitSystemFields != nil)
        let again = try CloudKitRecordEncoder().encode(person)
        #expect(again.recordID == record.recordID)
        person.cloudKitSystemFields = nil
        #expect(person == Person.rambo())
    }

    private struct HandWritten: CustomCloudKitCodable {
        var cloudKitSystemFields: Data?
        var name: String

        init(name: String) { self.name = name }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(cloudKitSystemFields, forKey: .cloudKitSystemFields)
            try container.encode(name, forKey: .name)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            cloudKitSystemFields = try container.decode(Data?.self, forKey: .cloudKitSystemFields)
            name = try container.decode(String.self, forKey: .name)
        }

        private enum Key: CodingKey { case cloudKitSystemFields, name }
    }

    @Test("System fields with a set in them are an error, where Foundation would end the process")
    func systemFieldsWithSet() throws {
        // {"a": {"b"}}: a dictionary of a set.
        let list: [UInt8] = [
            0x62, 0x70, 0x6C, 0x69, 0x73, 0x74, 0x30, 0x30, 0xD1, 0x01, 0x02, 0x51, 0x61, 0xC1,
            0x03,
            0x51, 0x62, 0x08, 0x0B, 0x0D, 0x0F, 0, 0, 0, 0, 0, 0, 0x01, 0x01, 0, 0, 0, 0, 0, 0, 0,
            0x04,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11,
        ]
        var person = Person.rambo()
        person.cloudKitSystemFields = Data(list)
        #expect(throws: CloudKitRecordEncodingError.self) {
            try CloudKitRecordEncoder(zoneID: zoneID).encode(person)
        }
    }

    @Test("A hand-written mapping that encodes the optional system fields makes no field of them")
    func handWrittenMapping() throws {
        let record = try CloudKitRecordEncoder(zoneID: zoneID).encode(HandWritten(name: "a"))
        let value = try CloudKitRecordDecoder().decode(HandWritten.self, from: record)
        #expect(value.cloudKitSystemFields != nil)
        let again = try CloudKitRecordEncoder().encode(value)
        #expect(again.recordID == record.recordID)
        for record in [record, again] { #expect(record.allKeys() == ["name"]) }
        let onto = try #require(record.copy() as? CKRecord)
        try CloudKitRecordEncoder().encode(HandWritten(name: "b"), onto: onto)
        #expect(onto.allKeys() == ["name"] && onto.changedKeys() == ["name"])
    }

    @Test("Nil clears a field whose record is known")
    func clearing() throws {
        let record = try CloudKitRecordEncoder(zoneID: zoneID).encode(Person.rambo())
        var person = try CloudKitRecordDecoder().decode(Person.self, from: record)
        person.nickname = nil
        person.picture = nil
        let again = try CloudKitRecordEncoder().encode(person)
        #expect(again.changedKeys().contains("nickname"))
        #expect(again.changedKeys().contains("picture"))
        #expect(again["nickname"] == nil)

        let new = try CloudKitRecordEncoder().encode(Person.rambo())
        #expect(!new.changedKeys().contains("avatar"))
    }

    @Test("Onto a record: equal fields stay untouched, unknown ones are kept")
    func onto() throws {
        let archived = try CloudKitRecordEncoder(zoneID: zoneID).encode(Person.rambo())
        archived["newer"] = "kept"
        let record = try #require(archived.copy() as? CKRecord)
        var person = Person.rambo()
        person.age = 27
        person.nickname = nil
        try CloudKitRecordEncoder().encode(person, onto: record)
        #expect(record["newer"] == "kept")
        #expect(record["age"] == 27)
        #expect(record["nickname"] == nil)
        #expect(record["name"] == "Rambo")
    }

    struct Enums: Codable, Equatable {
        var size: Size
        var level: Level
        var optional: Size?
        var plain: Colour
    }

    @Test("Enumerations are stored raw; unknown cases fall back, or are an error that says so")
    func enumerations() throws {
        let value = Enums(size: .large, level: .low, optional: nil, plain: .green)
        let record = try CloudKitRecordEncoder().encode(value)
        #expect(record["size"] == "large")
        #expect(record["level"] == 1)
        #expect(record["optional"] == nil)
        #expect(record["plain"] == Data(#""green""#.utf8))
        #expect(try CloudKitRecordDecoder().decode(Enums.self, from: record) == value)
        record["size"] = "huge"
        #expect(try CloudKitRecordDecoder().decode(Enums.self, from: record).size == .small)
        record["level"] = 5
        let error = #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Enums.self, from: record)
        }
        #expect("\(try #require(error))".contains("field level"))
        record["level"] = 9
        record["plain"] = Data(#""blue""#.utf8)
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Enums.self, from: record)
        }
    }

    struct Lists: Codable, Equatable {
        var keys: [UUID]
        var themes: [Theme]
        var names: [String]
        var themesByName: [String: Theme]
    }

    @Test("Lists keep one type of field, empty or full")
    func lists() throws {
        for themes in [[], [Theme(name: "a", shade: 1)]] {
            let value = Lists(
                keys: themes.map { _ in UUID() },
                themes: themes,
                names: themes.map(\.name),
                themesByName: Dictionary(uniqueKeysWithValues: themes.map { ($0.name, $0) })
            )
            let record = try CloudKitRecordEncoder().encode(value)
            #expect(record["keys"] as? Data != nil)
            #expect(record["themes"] as? Data != nil)
            #expect(record["names"] as? [String] == value.names)
            #expect(try CloudKitRecordDecoder().decode(Lists.self, from: record) == value)
        }
    }

    @Test("What the original wrote decodes: an empty list of structures is a list")
    func originalForms() throws {
        let record = CKRecord(recordType: "Lists")
        record["keys"] = NSArray()
        record["themes"] = NSArray()
        record["names"] = NSArray()
        record["themesByName"] = Data("{}".utf8)
        let value = try CloudKitRecordDecoder().decode(Lists.self, from: record)
        #expect(value == Lists(keys: [], themes: [], names: [], themesByName: [:]))
    }

    struct Contents: CloudKitAssetValue, Equatable, Identifiable {
        var id: String
        var text: String
    }

    struct Document: Codable, Equatable {
        var contents: Contents
    }

    @Test("An asset value is a file of its own, even for identifiers that look like paths")
    func assets() throws {
        for id in ["MyID", "a/../../b"] {
            let first = Document(contents: Contents(id: id, text: "1"))
            let second = Document(contents: Contents(id: id, text: "2"))
            let record = try CloudKitRecordEncoder().encode(first)
            _ = try CloudKitRecordEncoder().encode(second)
            let asset = try #require(record["contents"] as? CKAsset)
            let file = try #require(asset.fileURL)
            if id == "MyID" { #expect(file.lastPathComponent == "Contents-MyID.json") }
            #expect(try CloudKitRecordDecoder().decode(Document.self, from: record) == first)
            try FileManager.default.removeItem(at: file)
            let error = #expect(throws: DecodingError.self) {
                try CloudKitRecordDecoder().decode(Document.self, from: record)
            }
            #expect("\(try #require(error))".contains("field contents"))
        }
    }

    @Test("Content types name themselves and their families")
    func contentTypes() {
        #expect(UTType.json.preferredFilenameExtension == "json")
        #expect(UTType.binaryPropertyList.conforms(to: .propertyList))
        #expect(!UTType.json.conforms(to: .propertyList))
        #expect(Contents.filenameSuffix == ".json")
    }

    @Test("Broken system fields and fields that are too large are errors")
    func errors() throws {
        var person = Person.rambo()
        person.cloudKitSystemFields = Data("nonsense".utf8)
        #expect(throws: CloudKitRecordEncodingError.self) {
            try CloudKitRecordEncoder().encode(person)
        }
        struct Large: Codable { var inner: [String: String] }
        let large = Large(inner: ["a": String(repeating: "x", count: 1_000_001)])
        #expect(throws: CloudKitRecordEncodingError.self) {
            try CloudKitRecordEncoder().encode(large)
        }
        struct Reserved: Codable { var _hidden = 1 }
        #expect(throws: EncodingError.self) { try CloudKitRecordEncoder().encode(Reserved()) }
        struct Unsigned: Codable { var big = UInt64.max }
        let error = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(Unsigned())
        }
        #expect("\(try #require(error))".contains("big"))
    }

    @Test("A record that does not fit says which field, what was expected and what was found")
    func mismatch() throws {
        let record = try CloudKitRecordEncoder().encode(Person.rambo())
        record["age"] = "old"
        let error = #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Person.self, from: record)
        }
        guard case .typeMismatch(_, let context)? = error else {
            Issue.record("not a mismatch: \(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["age"])
        #expect(context.debugDescription.contains("rambo"))
        #expect(context.debugDescription.contains("STRING"))
        record["age"] = nil
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Person.self, from: record)
        }
    }
}
