import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Testing

@Suite("Two properties for one field")
struct SharedFieldTests {
    class Animal: Codable {
        var name = "animal"
        init() {}
    }

    /// A subclass whose name conflicts with its superclass's, although JSON keeps their containers
    /// apart.
    final class Dog: Animal {
        var own: String?

        enum CodingKeys: String, CodingKey { case own = "name" }

        init(own: String?) {
            self.own = own
            super.init()
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            own = try container.decodeIfPresent(String.self, forKey: .own)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(own, forKey: .own)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test("A class and its superclass with one key are refused, with both names, nil or not")
    func classes() {
        for own in ["dog", nil] {
            let error = #expect(throws: EncodingError.self) {
                try CloudKitRecordEncoder().encode(Dog(own: own))
            }
            let text = "\(String(describing: error))"
            #expect(text.contains("Dog") && text.contains("Animal") && text.contains("key name"))
        }
    }

    struct Twins: CloudKitModel {
        var first: String?
        var second: String?
        var recordName: String { "twins" }
        static var fields: CloudKitFields {
            [CodingKeys.first: .named("x"), CodingKeys.second: .named("x")]
        }
    }

    struct Squatter: CloudKitModel {
        var first: String?
        var x: Int?
        var recordName: String { "squatter" }
        static var fields: CloudKitFields { [CodingKeys.first: .named("x")] }
    }

    struct Large: CloudKitModel {
        var scan: Data?
        var scan_asset: String?
        var recordName: String { "large" }
        static var fields: CloudKitFields { [CodingKeys.scan: .asset(above: 10)] }
    }

    @Test("Two properties that are given one field are refused, with both names")
    func names() {
        func check(_ model: some CloudKitModel, _ names: [String]) {
            let error = #expect(throws: CloudKitGraphError.self) {
                try CloudKitGraphEncoder(zoneID: .default).encode(model)
            }
            for name in names { #expect(error?.message.contains(name) == true) }
            #expect(throws: EncodingError.self) { try CloudKitRecordEncoder().encode(model) }
        }
        check(Twins(first: "a", second: "b"), ["first", "second", "field x"])
        check(Twins(), ["first", "second"])
        check(Squatter(first: "a"), ["first", "x"])
        check(Large(scan: Data([1]), scan_asset: "b"), ["scan", "scan_asset"])
    }

    struct Family: CloudKitModel, Equatable {
        var sons: [Leaf] = []
        var daughters: [Leaf] = []
        var eldest: Leaf?
        var recordName: String { "family" }
        static var fields: CloudKitFields {
            [
                CodingKeys.sons: .children(via: "parent"),
                CodingKeys.daughters: .children(via: "parent"),
                CodingKeys.eldest: .children(via: "eldest_of"),
            ]
        }
    }

    struct Couple: CloudKitModel {
        var sons: [Leaf] = []
        var heir: Leaf?
        var recordName: String { "couple" }
        static var fields: CloudKitFields {
            [CodingKeys.sons: .children(via: "parent"), CodingKeys.heir: .children(via: "parent")]
        }
    }

    @Test("Two lists of one type's children by one field are refused, full, empty or nil")
    func children() throws {
        let encoder = CloudKitGraphEncoder(zoneID: .default)
        for family in [Family(sons: [Leaf(id: "1")], daughters: [Leaf(id: "2")]), Family()] {
            let error = #expect(throws: CloudKitGraphError.self) { try encoder.encode(family) }
            #expect(error?.message.contains("sons and daughters") == true)
        }
        let error = #expect(throws: CloudKitGraphError.self) {
            try encoder.encode(Couple(sons: [Leaf(id: "1")]))
        }
        #expect(error?.message.contains("sons and heir") == true)
        // Records that were saved in this way are reported when they are read.
        let leaf = CKRecord(recordType: "Leaf", recordID: CKRecord.ID(recordName: "1"))
        let couple = CKRecord(recordType: "Couple", recordID: CKRecord.ID(recordName: "couple"))
        leaf["name"] = "leaf"
        leaf["id"] = "1"
        leaf["parent"] = CKRecord.Reference(record: couple, action: .none)
        #expect(throws: CloudKitGraphError.self) {
            try CloudKitGraphDecoder().decode(
                Couple.self,
                from: [leaf, couple],
                root: couple.recordID
            )
        }
    }

    struct Page<Own: Codable & Equatable>: CloudKitModel, Equatable, Identifiable {
        var id: String
        var book: Own
        static var recordType: String { "Page" }
    }

    struct Book<Own: Codable & Equatable>: CloudKitModel, Equatable {
        var pages: [Page<Own>]
        var recordName: String { "book" }
        static var recordType: String { "Book" }
        static var fields: CloudKitFields { [CodingKeys.pages: .children(via: "book")] }
    }

    struct Numbered: CloudKitModel, Identifiable {
        var id: String
        var book_position: Int?
    }

    struct NumberedBook: CloudKitModel {
        var pages: [Numbered]
        var recordName: String { "book" }
        static var fields: CloudKitFields { [CodingKeys.pages: .children(via: "book")] }
    }

    @Test("A child's own property in the owner's field is refused, unless it refers to the owner")
    func childrensFields() async throws {
        func refused(_ model: some CloudKitModel) -> String {
            let error = #expect(throws: CloudKitGraphError.self) {
                try CloudKitGraphEncoder(zoneID: .default).encode(model)
            }
            return error?.message ?? ""
        }
        let text = refused(Book(pages: [Page(id: "1", book: "Dune")]))
        #expect(text.contains("own property book") && text.contains("pages"))
        _ = refused(Book(pages: [Page(id: "1", book: String?.none)]))
        _ = refused(NumberedBook(pages: [Numbered(id: "1")]))

        typealias Reference = CloudKitReference<Leaf>
        let other = Page(id: "1", book: Reference(recordName: "another"))
        #expect(refused(Book(pages: [other])).contains("another"))

        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Books"))
        let book = Book(
            pages: ["1", "2"].map {
                Page(id: $0, book: Reference(recordName: "book"))
            }
        )
        let saved = try await database.save(book, in: zone.zoneID)
        let loaded = try await database.graph(Book<Reference>.self, for: saved.rootID)
        #expect(loaded.root == book)
    }
}
