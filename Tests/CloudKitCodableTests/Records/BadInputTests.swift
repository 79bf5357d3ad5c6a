import CloudKit
import CloudKitCodable
import Foundation
import Testing

@Suite("Bad input")
struct BadInputTests {
    @Test("All failing fields of a record are told at once")
    func allErrors() throws {
        let record = try CloudKitRecordEncoder().encode(Person.rambo())
        #expect(CloudKitRecordDecoder().errors(decoding: Person.self, from: record).isEmpty)
        record["age"] = "old"
        record["name"] = nil
        record["website"] = 5
        record["nickname"] = 7
        let errors = CloudKitRecordDecoder().errors(decoding: Person.self, from: record)
        let text = errors.map { "\($0)" }
        #expect(errors.count == 4)
        for field in ["name", "nickname", "age", "website"] {
            #expect(text.contains { $0.contains(field) })
        }
    }

    @Test("Names that CloudKit reserves, or that are none, are errors with a remedy")
    func names() {
        struct Reserved: CloudKitModel {
            var creationDate = 1
            var recordName: String { "r" }
        }
        struct Spaced: CloudKitModel {
            var value = 1
            var recordName: String { "r" }
            enum CodingKeys: String, CodingKey { case value = "a b" }
        }
        struct Underscore: CloudKitModel {
            var value = 1
            var recordName: String { "_r" }
        }
        struct Empty: CloudKitModel {
            var value = 1
            var recordName: String { "" }
        }
        struct Generic<Value: Codable>: CloudKitModel {
            var value: Value
            var recordName: String { "r" }
        }
        func error(_ model: some CloudKitModel) -> CloudKitGraphError? {
            #expect(throws: CloudKitGraphError.self) {
                try CloudKitGraphEncoder(zoneID: .default).encode(model)
            }
        }
        #expect(error(Reserved())?.message.contains("creationDate") == false)
        #expect(error(Reserved())?.codingPath.map(\.stringValue) == ["creationDate"])
        #expect(error(Spaced())?.code == .notEncodable)
        #expect(error(Underscore())?.code == .invalidName)
        #expect(error(Empty())?.code == .invalidName)
        #expect(error(Generic(value: 1))?.code == .invalidName)
    }

    @Test("Files within JSON, encrypted files and numbers that do not fit are errors")
    func values() {
        struct Inner: Codable {
            @CloudKitValue var file = CKAsset(fileURL: URL(filePath: "/dev/null"))
        }
        struct Outer: CloudKitModel {
            var inner = Inner()
            var recordName: String { "r" }
        }
        struct Secret: CloudKitModel {
            @CloudKitValue var file = CKAsset(fileURL: URL(filePath: "/dev/null"))
            var recordName: String { "r" }
            enum CodingKeys: CodingKey { case file }
            static var fields: CloudKitFields { [CodingKeys.file: .encrypted] }
        }
        struct Big: CloudKitModel {
            var numbers = [UInt64.max]
            var recordName: String { "r" }
        }
        for model in [Outer(), Secret(), Big()] as [any CloudKitModel] {
            let error = #expect(throws: CloudKitGraphError.self) {
                try CloudKitGraphEncoder(zoneID: .default).encode(model)
            }
            #expect(error?.code == .notEncodable)
            #expect(error?.codingPath.isEmpty == false)
        }
    }
}
