import CloudKit
import CloudKitCodable
import Testing

// The macro has the same rules: the lists are those of its tests.
@Suite("Names of fields")
struct FieldNameTests {
    private func encode(_ name: String) throws -> CKRecord {
        let encoder = CloudKitRecordEncoder()
        encoder.forms = .native
        return try encoder.encode([name: 1])
    }

    @Test(
        "The encoder refuses names that CloudKit keeps for itself, or does not take",
        arguments: [
            "recordID", "recordType", "recordName", "recordChangeTag", "creationDate",
            "creatorUserRecordID", "modificationDate", "lastModifiedUserRecordID", "parent",
            "share", "_a", "1a", "", "a b", "ü", "a.b", String(repeating: "a", count: 256),
        ]
    )
    func refused(name: String) {
        #expect(throws: EncodingError.self) { try encode(name) }
    }

    @Test(
        "The encoder takes other names",
        arguments: ["title", "a_1", "recordIDs", "A", String(repeating: "a", count: 255)]
    )
    func taken(name: String) throws {
        #expect(try encode(name)[name] == 1)
    }

    @Test("A property called recordName that the table does not name gets the words to say")
    func recordName() throws {
        struct Unnamed: CloudKitModel {
            var recordName: String
        }
        let error = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(Unnamed(recordName: "a"))
        }
        #expect("\(String(describing: error))".contains("use .recordName for it in fields"))

        struct Named: CloudKitModel, Equatable {
            var recordName: String
            static var fields: CloudKitFields { [CodingKeys.recordName: .recordName] }
        }
        let record = try CloudKitRecordEncoder().encode(Named(recordName: "a"))
        #expect(record.allKeys().isEmpty && record.recordID.recordName == "a")
        let read = try CloudKitRecordDecoder().decode(Named.self, from: record)
        #expect(read == Named(recordName: "a"))
    }
}
