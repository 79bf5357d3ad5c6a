import CloudKit
import CloudKitCodable
import Foundation
import Testing

@Suite("Every shape of Codable")
struct ShapeTests {
    private func record(_ value: some CloudKitModel) throws -> CKRecord {
        let zoneID = CKRecordZone.ID(zoneName: "Z")
        return try #require(
            try CloudKitGraphEncoder(zoneID: zoneID).encode(value).records.last
        )
    }

    @Test("A model with a property of every shape comes back equal")
    func roundTrip() throws {
        let value = Everything()
        let record = try record(value)
        #expect(
            try CloudKitGraphDecoder().decode(
                Everything.self,
                from: [record],
                root: record.recordID
            ) == value
        )
    }

    @Test("What a record can hold is native, and the rest is JSON")
    func forms() throws {
        let record = try record(Everything())
        #expect(record["int8"] == Int64(Int8.min))
        #expect(record["price"] == "12345678901234567890.123456789")
        #expect(record["page"] == "https://example.com")
        #expect(record["pages"] == ["https://example.com/1", "https://example.com/2"])
        #expect(record["keys"] == ["00000000-0000-0000-0000-0000000000CD"])
        #expect(record["colour"] == "green")
        #expect(record["colours"] == ["red", "green"])
        #expect(record["sizes"] == ["small"])
        #expect(record["level"] == 9)
        #expect(record["theme"] == Data(#"{"name":"dark"}"#.utf8))
        #expect(record["shape"] == Data(#"{"circle":{"radius":2}}"#.utf8))
        #expect(record["noThemes"] == Data("[]".utf8))
        #expect(record["noNames"] == [String]())
        #expect(record["tags"] == ["a", "b"])
        #expect(record["numbers"] == [1, 2, 3])
        #expect(record["table"] == Data(#"{"a":1,"b":2}"#.utf8))
        #expect(record["ages"] == Data(#"{"1":"one","2":"two"}"#.utf8))
        #expect(record["votes"] == Data(#"["green",2,"red",1]"#.utf8))
        #expect(record["span"] == Data("[1,5]".utf8))
        #expect(record["maybeNames"] == [String]())
        #expect(record["noMaybeNames"] as [String]? == nil)
        #expect(record["grid"] == Data("[[1,2],[],[3]]".utf8))
        #expect(record["gaps"] == Data("[1,null,3]".utf8))
        #expect(record["length"] == 2.5)
        #expect(record["maybe"] as String? == nil)
        #expect((record["place"] as CLLocation?)?.coordinate.longitude == 2)
        #expect((record["target"] as CKRecord.Reference?)?.action == .deleteSelf)
        #expect((record["friend"] as CKRecord.Reference?)?.recordID.recordName == "friend")
        #expect(record["secret"] as String? == nil)
        #expect(record.encryptedValues["secret"] == "secret")
        #expect((record["scan"] as CKAsset?)?.fileURL != nil)
        #expect(record["report"] as Data? == nil)
        #expect((record["report_asset"] as CKAsset?)?.fileURL != nil)
        #expect(record["memo"] == Data(repeating: 9, count: 5))
        #expect(record["renamed"] == Data(#"["x"]"#.utf8))
        #expect(record["id"] as String? == nil)
    }

    class Animal: Codable {
        var name = "cat"
    }

    final class Pet: Animal {
        var owner = "Ada"

        enum CodingKeys: CodingKey { case owner }

        override init() { super.init() }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            owner = try container.decode(String.self, forKey: .owner)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(owner, forKey: .owner)
            try super.encode(to: container.superEncoder())
        }
    }

    final class Sharing: Animal {
        var owner = "Bob"

        enum CodingKeys: CodingKey { case owner }

        override init() { super.init() }

        required init(from decoder: any Decoder) throws {
            owner = try decoder.container(keyedBy: CodingKeys.self)
                .decode(String.self, forKey: .owner)
            try super.init(from: decoder)
        }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(owner, forKey: .owner)
        }
    }

    @Test("A class and its superclass share the record")
    func inheritance() throws {
        let pet = Pet()
        pet.name = "dog"
        pet.owner = "Eve"
        let record = try CloudKitRecordEncoder().encode(pet)
        #expect(record.allKeys() == ["name", "owner"])
        let decoded = try CloudKitRecordDecoder().decode(Pet.self, from: record)
        #expect(decoded.name == "dog" && decoded.owner == "Eve")

        let shared = try CloudKitRecordEncoder().encode(Sharing())
        #expect(shared.allKeys() == ["name", "owner"])
        #expect(try CloudKitRecordDecoder().decode(Sharing.self, from: shared).owner == "Bob")
    }

    struct Nested: Codable, Equatable {
        var street = "Main"
        var numbers = [1, 2]
        var extra = 7

        enum CodingKeys: CodingKey { case address, list, more }
        enum AddressKeys: CodingKey { case street }

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            street = try container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
                .decode(String.self, forKey: .street)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            numbers = []
            while !list.isAtEnd { numbers.append(try list.decode(Int.self)) }
            extra = try Int(from: container.superDecoder(forKey: .more))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            var address = container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
            try address.encode(street, forKey: .street)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            for number in numbers { try list.encode(number) }
            try extra.encode(to: container.superEncoder(forKey: .more))
        }
    }

    @Test("Containers within containers are JSON and come back")
    func nestedContainers() throws {
        let record = try CloudKitRecordEncoder().encode(Nested())
        #expect(record["address"] == Data(#"{"street":"Main"}"#.utf8))
        #expect(record["list"] == Data("[1,2]".utf8))
        #expect(try CloudKitRecordDecoder().decode(Nested.self, from: record) == Nested())
    }

    @Test("Values that are not keyed are a record's only field")
    func singleValues() throws {
        func roundTrip<Value: Codable & Equatable>(_ value: Value) throws {
            let record = try CloudKitRecordEncoder().encode(value)
            #expect(record.allKeys() == ["value"])
            #expect(try CloudKitRecordDecoder().decode(Value.self, from: record) == value)
        }
        try roundTrip(5)
        try roundTrip("text")
        try roundTrip([1, 2, 3])
        try roundTrip([Theme(name: "a", shade: 1)])
        try roundTrip(Meters(3))
        try roundTrip(Colour.green)
        let wrapped = Optional(Theme(name: "x", shade: 2))
        let record = try CloudKitRecordEncoder().encode(wrapped)
        #expect(try CloudKitRecordDecoder().decode(Theme?.self, from: record) == wrapped)
    }
}
