import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Testing

/// A wrapper around an optional that codes it as a single value.
@propertyWrapper
struct Maybe<Value: Codable & Equatable>: Codable, Equatable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value?.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

/// A wrapper that decodes null before it decodes a value.
@propertyWrapper
struct Nullable<Value: Codable & Equatable>: Codable, Equatable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

struct Leaf: CloudKitModel, Equatable, Identifiable {
    var id: String
    var name = "leaf"
}

/// Nil in every form that a type can use.
struct Nothings: CloudKitModel, CustomCloudKitCodable, Equatable {
    var cloudKitSystemFields: Data?
    var cloudKitIdentifier = "nothings"
    var number: Int?
    var text: String?
    var date: Date?
    var data: Data?
    var list: [String]?
    var figure: Theme?
    var leaf: Leaf?
    var leaves: [Leaf]?
    @Maybe var maybeNumber: Int?
    @Maybe var maybeData: Data?
    @Maybe var maybeLeaf: Leaf?
    @Nullable var nullableText: String?
    @Nullable var nullableLeaves: [Leaf]?
    @Nullable var nullableFigure: Theme?
    @Maybe var both: Nullable<Int>?

    var recordName: String { cloudKitIdentifier }

    enum CodingKeys: CodingKey {
        case cloudKitSystemFields, cloudKitIdentifier
        case number, text, date, data, list, figure, leaf, leaves
        case maybeNumber, maybeData, maybeLeaf, nullableText, nullableLeaves, nullableFigure, both
    }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) throws -> Value {
            try container.decode(Value.self, forKey: key)
        }
        cloudKitSystemFields = try value(.cloudKitSystemFields)
        cloudKitIdentifier = try value(.cloudKitIdentifier)
        number = try container.decode(Int?.self, forKey: .number)
        text = try container.decodeNil(forKey: .text) ? nil : value(.text)
        date = try value(.date)
        data = try container.decodeNil(forKey: .data) ? nil : value(.data)
        list = try value(.list)
        figure = try value(.figure)
        leaf = try container.decode(Leaf?.self, forKey: .leaf)
        leaves = try value(.leaves)
        _maybeNumber = try value(.maybeNumber)
        _maybeData = try value(.maybeData)
        _maybeLeaf = try value(.maybeLeaf)
        _nullableText = try value(.nullableText)
        _nullableLeaves = try value(.nullableLeaves)
        _nullableFigure = try value(.nullableFigure)
        _both = try value(.both)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(cloudKitSystemFields, forKey: .cloudKitSystemFields)
        try container.encode(cloudKitIdentifier, forKey: .cloudKitIdentifier)
        try container.encode(number, forKey: .number)
        if let text {
            try container.encode(text, forKey: .text)
        } else {
            try container.encodeNil(forKey: .text)
        }
        try container.encode(date, forKey: .date)
        try container.encode(data, forKey: .data)
        try container.encode(list, forKey: .list)
        try container.encode(figure, forKey: .figure)
        try container.encode(leaf, forKey: .leaf)
        try container.encode(leaves, forKey: .leaves)
        try container.encode(_maybeNumber, forKey: .maybeNumber)
        try container.encode(_maybeData, forKey: .maybeData)
        try container.encode(_maybeLeaf, forKey: .maybeLeaf)
        try container.encode(_nullableText, forKey: .nullableText)
        try container.encode(_nullableLeaves, forKey: .nullableLeaves)
        try container.encode(_nullableFigure, forKey: .nullableFigure)
        try container.encode(_both, forKey: .both)
    }

    /// The same model with a value everywhere.
    static var full: Nothings {
        var value = Nothings()
        value.number = 5
        value.text = "null"
        value.date = Date(timeIntervalSince1970: 1)
        value.data = Data("null".utf8)
        value.list = ["null"]
        value.figure = Theme(name: "null", shade: 1)
        value.leaf = Leaf(id: "1")
        value.leaves = [Leaf(id: "2"), Leaf(id: "3")]
        value.maybeNumber = 0
        value.maybeData = Data("null".utf8)
        value.maybeLeaf = Leaf(id: "4")
        value.nullableText = ""
        value.nullableLeaves = []
        value.nullableFigure = Theme(name: "n", shade: 2)
        value.both = Nullable(wrappedValue: 7)
        return value
    }
}

/// The same for the original's API: a value, but not a model.
struct DropInNothings: CustomCloudKitCodable, Equatable {
    var value: Nothings

    var cloudKitSystemFields: Data? { value.cloudKitSystemFields }
    var cloudKitIdentifier: String { value.cloudKitIdentifier }

    init(_ value: Nothings) { self.value = value }
    init(from decoder: any Decoder) throws { value = try Nothings(from: decoder) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

@Suite("Values that are nil")
struct NilTests {
    @Test(
        "Nil comes back however a type writes it and asks for it",
        arguments: [false, true]
    )
    func records(isFull: Bool) throws {
        var value = isFull ? Nothings.full : Nothings()
        let encoder = CloudKitRecordEncoder()
        let original = try encoder.encode(DropInNothings(value))
        var dropIn = try CloudKitRecordDecoder().decode(DropInNothings.self, from: original)
        dropIn.value.cloudKitSystemFields = nil
        #expect(dropIn.value == value)

        // Models within a model are records of their own, which a graph creates.
        (value.leaf, value.leaves, value.maybeLeaf) = (nil, nil, nil)
        let record = try encoder.encode(value)
        var read = try CloudKitRecordDecoder().decode(Nothings.self, from: record)
        read.cloudKitSystemFields = nil
        #expect(read == value)
    }

    @Test("In a graph too, with models among them, and nil clears what was saved")
    func graphs() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Nil"))
        for value in [Nothings(), .full] {
            let encoded = try CloudKitGraphEncoder(zoneID: zone.zoneID).encode(value)
            var read = try CloudKitGraphDecoder().decode(
                Nothings.self,
                from: encoded.records,
                root: encoded.rootID
            )
            read.cloudKitSystemFields = nil
            #expect(read == value)
        }
        var graph = try await database.save(Nothings.full, in: zone.zoneID)
        graph.root = Nothings()
        try await database.save(&graph)
        var loaded = try await database.graph(Nothings.self, for: graph.rootID).root
        loaded.cloudKitSystemFields = nil
        #expect(loaded == Nothings())
    }

    struct Box<Value: Codable & Equatable>: Codable, Equatable {
        var value: Value
    }

    struct Single<Value: Codable & Equatable>: Codable, Equatable {
        var value: Value

        init(_ value: Value) { self.value = value }

        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Value.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    @Test("Types that are generic over optionals come back")
    func generics() throws {
        func roundTrip<Value: Codable & Equatable>(_ value: Value) throws {
            for forms in [CloudKitRecordForms.original, .native] {
                let encoder = CloudKitRecordEncoder()
                encoder.forms = forms
                let record = try encoder.encode(value)
                #expect(try CloudKitRecordDecoder().decode(Value.self, from: record) == value)
            }
        }
        try roundTrip(Box<Int?>(value: nil))
        try roundTrip(Box<Int?>(value: 3))
        try roundTrip(Box<Theme?>(value: nil))
        try roundTrip(Box<Theme?>(value: Theme(name: "x", shade: 1)))
        try roundTrip(Box<Data?>(value: Data("null".utf8)))
        try roundTrip(Box<[Int]?>(value: nil))
        try roundTrip(Single<Int?>(nil))
        try roundTrip(Single<String?>("a"))
        try roundTrip(Box<Single<Int?>>(value: Single(nil)))
        try roundTrip(Box<Single<Date?>?>(value: Single(Date(timeIntervalSince1970: 5))))
        try roundTrip(Int?.none)
        try roundTrip(Theme?.none)
    }

    struct Twice: CloudKitModel, Equatable {
        var number: Int??
        var single: Single<Int?>?
        var json: Int??
        var recordName: String { "twice" }

        static var fields: CloudKitFields { [CodingKeys.json: .json] }
    }

    @Test("A null within an optional is refused, because it would come back as nil")
    func nullWithinOptional() throws {
        let zoneID = CKRecordZone.default().zoneID
        for (value, key) in [
            (Twice(number: .some(nil)), "number"), (Twice(single: Single(nil)), "single"),
            (Twice(json: .some(nil)), "json"),
        ] {
            let error = #expect(throws: EncodingError.self) {
                try CloudKitRecordEncoder().encode(value)
            }
            guard case .invalidValue(_, let context)? = error else { continue }
            #expect(context.codingPath.map(\.stringValue) == [key])
            #expect(context.debugDescription.contains("twice of type Twice"))
            #expect(context.debugDescription.contains("make it nil"))
            let inGraph = #expect(throws: CloudKitGraphError.self) {
                try CloudKitGraphEncoder(zoneID: zoneID).encode(value)
            }
            #expect(inGraph?.code == .notEncodable)
        }
        for value in [Twice(), Twice(number: 5, single: Single(6), json: 7)] {
            let encoded = try CloudKitGraphEncoder(zoneID: zoneID).encode(value)
            let read = try CloudKitGraphDecoder().decode(
                Twice.self,
                from: encoded.records,
                root: encoded.rootID
            )
            #expect(read == value)
        }
    }

    @Test("A field that is missing is still an error for who needs it")
    func missing() {
        let record = CKRecord(recordType: "Box")
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Box<Int>.self, from: record)
        }
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Box<Single<Int>>.self, from: record)
        }
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Box<[String: Int]>.self, from: record)
        }
    }
}
