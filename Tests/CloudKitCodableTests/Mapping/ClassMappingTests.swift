#if Macros
import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Testing

@CloudKitRecord("Page")
final class Page: Identifiable {
    let id: String
    var title: String
    var number = 1

    init(id: String, title: String) {
        self.id = id
        self.title = title
    }
}

@CloudKitRecord
class Document: Codable, Identifiable {
    var id: String
    var title: String

    init(id: String, title: String) {
        self.id = id
        self.title = title
    }
}

/// A subclass that is coded by Codable, as it would be without the macro.
class Letter: Document {
    var address: String

    init(id: String, title: String, address: String) {
        self.address = address
        super.init(id: id, title: title)
    }

    required init(fields: inout CloudKitFieldReader) throws {
        address = ""
        try super.init(fields: &fields)
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        address = try container.decode(String.self, forKey: .address)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(address, forKey: .address)
    }

    private enum Keys: String, CodingKey {
        case address
    }
}

/// A value that determines the record version that it comes from.
@CloudKitRecord("Versioned")
struct Versioned: CustomCloudKitCodable, Equatable {
    var cloudKitSystemFields: Data?
    var cloudKitIdentifier: String
    var title: String?

    var recordName: String { cloudKitIdentifier }
}

/// A type with its own table and keys, which the macro leaves alone.
@CloudKitRecord
struct HandKeyed: Equatable, Identifiable {
    var id: String
    var title: String
    var note: String?
    var cache = 0

    enum CodingKeys: String, CodingKey {
        case id
        case title = "name"
        case note
    }

    static var fields: CloudKitFields { [CodingKeys.note: .encrypted] }
    static var recordType: CKRecord.RecordType { "Hand" }
}

@Suite("Mappings of classes and of types with parts of their own")
struct ClassMappingTests {
    @Test("A final class is mapped")
    func finalClass() throws {
        let page = Page(id: "1", title: "First")
        page.number = 7
        let record = try CloudKitRecordEncoder().encode(page)
        #expect(record.recordType == "Page" && record.recordID.recordName == "1")
        #expect(record.allKeys() == ["id", "number", "title"])
        let read = try CloudKitRecordDecoder().decode(Page.self, from: record)
        #expect(read.id == "1" && read.title == "First" && read.number == 7)
    }

    @Test("A class that is not final is mapped, and a subclass keeps its own properties")
    func openClass() throws {
        let document = try CloudKitRecordEncoder().encode(Document(id: "1", title: "Plan"))
        #expect(document.recordType == "Document" && document.allKeys() == ["id", "title"])

        let letter = Letter(id: "2", title: "Dear", address: "Vienna")
        for value in [letter, letter as Document] {
            let record = try CloudKitRecordEncoder().encode(value)
            #expect(record.recordType == "Letter")
            #expect(record.allKeys() == ["address", "id", "title"])
            let read = try CloudKitRecordDecoder().decode(Letter.self, from: record)
            #expect(read.address == "Vienna" && read.title == "Dear" && read.id == "2")
        }
    }

    @Test("System fields travel in a mapped value, and nil clears")
    func systemFields() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        var value = Versioned(cloudKitIdentifier: "v", title: "Old")
        try await database.save(CloudKitRecordEncoder().encode(value))
        let recordID = CKRecord.ID(recordName: "v")
        let saved = try await database.record(for: recordID)
        value = try CloudKitRecordDecoder().decode(Versioned.self, from: saved)
        #expect(value.cloudKitSystemFields != nil && value.title == "Old")

        value.title = nil
        let record = try CloudKitRecordEncoder().encode(value)
        #expect(record.recordChangeTag == saved.recordChangeTag)
        #expect(record.changedKeys().contains("title"))
        try await database.save(record)
        #expect(try await database.record(for: recordID)["title"] == nil)
    }

    @Test("Coding keys, a table and a type of its own stay")
    func handWritten() throws {
        let value = HandKeyed(id: "1", title: "T", note: "secret", cache: 5)
        let record = try CloudKitRecordEncoder().encode(value)
        #expect(record.recordType == "Hand" && record.allKeys() == ["id", "name"])
        #expect(record.encryptedValues["note"] == "secret")
        let coded = try CloudKitRecordEncoder().encode(ByCodable(value))
        #expect(try RecordContents(record) == RecordContents(coded))
        let read = try CloudKitRecordDecoder().decode(HandKeyed.self, from: record)
        #expect(read == HandKeyed(id: "1", title: "T", note: "secret", cache: 0))
        #expect(HandKeyed.Fields.title.name == "name")
    }

    @Test("Another coder finds a mapped model to be Codable")
    func json() throws {
        let value = HandKeyed(id: "1", title: "T", note: nil)
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(HandKeyed.self, from: data) == value)
    }
}
#endif
