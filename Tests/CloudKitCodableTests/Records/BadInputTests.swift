import CloudKit
import CloudKitCodable
import Foundation
import Testing

@Suite("Bad input")
struct BadInputTests {
    @Test("All failing fields of a record are reported at once")
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

    @Test("A file where a value was expected is an error that says how to read it")
    func unexpectedFile() {
        struct Picture: Codable {
            var image: Data
            var place: [String: Int]
        }
        let record = CKRecord(recordType: "Picture")
        for field in ["image", "place"] {
            record[field] = CKAsset(fileURL: URL(filePath: "/dev/null"))
        }
        let errors = CloudKitRecordDecoder().errors(decoding: Picture.self, from: record)
            .map { "\($0)" }
        #expect(errors.count == 2)
        for (error, type) in zip(errors, ["Data", "Dictionary<String, Int>"]) {
            let text = "expected a value for \(type), found ASSET; "
            #expect(error.contains(text) && error.contains(".asset in fields"))
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

    private struct Attachment: Codable {
        var file = URL(filePath: "/tmp/letter.pdf")
    }

    private enum Proof: Codable {
        case file(URL)
    }

    private struct Files<Value: Codable>: Codable, CloudKitRecordRepresentable {
        var cloudKitRecordType: String { "Files" }
        var cloudKitIdentifier: String { "f" }
        var cloudKitSystemFields: Data? { nil }
        var value: Value
    }

    /// A value that writes a file into a nested container.
    private struct Nested: Codable {
        var file = URL(filePath: "/tmp/letter.pdf")

        enum CodingKeys: CodingKey { case inner, file }

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let inner = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
            file = try inner.decode(URL.self, forKey: .file)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            var inner = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
            try inner.encode(file, forKey: .file)
        }
    }

    @Test("The place of a file within JSON is an error that names record, field and remedy")
    func places() throws {
        func refusal(_ value: some Encodable) -> String {
            let error = #expect(throws: (any Error).self) {
                try CloudKitRecordEncoder().encode(value)
            }
            return "\(String(describing: error))"
        }
        let file = URL(filePath: "/tmp/letter.pdf")
        for text in [
            refusal(Files(value: ["a": file])), refusal(Files(value: Attachment())),
            refusal(Files(value: [Attachment()])), refusal(Files(value: Proof.file(file))),
            refusal(Files(value: Nested())),
        ] {
            #expect(
                text.contains("letter.pdf") && text.contains("a property of its own"),
                "\(text)"
            )
            #expect(text.contains("field value"), "\(text)")
        }
        // An address elsewhere, and text that looks like a location, stay unchanged.
        _ = try CloudKitRecordEncoder().encode(Files(value: ["a": "file:///tmp/x"]))
        let address = try #require(URL(string: "https://example.com/a"))
        let record = try CloudKitRecordEncoder().encode(Files(value: ["a": address]))
        let read = try CloudKitRecordDecoder().decode(Files<[String: URL]>.self, from: record)
        #expect(read.value == ["a": address])
    }

    @Test("Addresses, data and decimals in a container of its own come back")
    func nested() throws {
        struct Values: Codable, Equatable {
            var address = URL(string: "https://example.com/a")
            var data = Data([1, 2, 3])
            var decimal = Decimal(string: "12345678901234567890.5") ?? 0

            enum CodingKeys: CodingKey { case inner, address, data, decimal }

            init() {}

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                let inner = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
                address = try inner.decode(URL.self, forKey: .address)
                data = try inner.decode(Data.self, forKey: .data)
                decimal = try inner.decode(Decimal.self, forKey: .decimal)
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                var inner = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
                try inner.encode(address, forKey: .address)
                try inner.encode(data, forKey: .data)
                try inner.encode(decimal, forKey: .decimal)
            }
        }
        let record = try CloudKitRecordEncoder().encode(Values())
        #expect(try CloudKitRecordDecoder().decode(Values.self, from: record) == Values())
    }

    @Test("A model in a container of its own is refused in a graph, as in a structure")
    func modelWithin() throws {
        struct Leaf: CloudKitModel {
            var recordName: String { "leaf" }
            var text = "x"
        }
        struct Tree: CloudKitModel {
            var recordName: String { "tree" }

            enum CodingKeys: CodingKey { case inner, leaf }

            init() {}
            init(from decoder: any Decoder) throws {}

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                var inner = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
                try inner.encode(Leaf(), forKey: .leaf)
            }
        }
        let error = #expect(throws: CloudKitGraphError.self) {
            try CloudKitGraphEncoder(zoneID: .default).encode(Tree())
        }
        #expect("\(String(describing: error))".contains("Leaf is a model"))
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
