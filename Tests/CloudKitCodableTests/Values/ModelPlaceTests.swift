import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Testing

@Suite("Models in places where a field cannot refer to them")
struct ModelPlaceTests {
    struct Holder<Value: Codable & Equatable>: CloudKitModel, Equatable {
        var value: Value
        var recordName: String { "holder" }
        static var recordType: String { "Holder" }
    }

    /// The same model with its value declared as JSON.
    struct Keeper<Value: Codable & Equatable>: CloudKitModel, Equatable {
        var value: Value
        var recordName: String { "keeper" }
        static var recordType: String { "Keeper" }
        static var fields: CloudKitFields { [CodingKeys.value: .json] }
    }

    struct Plain: Codable, Equatable {
        var leaf: Leaf
    }

    struct Deep: Codable, Equatable {
        var plain: [String: [Plain]] = [:]
        var leaf: Leaf?
    }

    enum Choice: Codable, Equatable {
        case none
        case leaf(Leaf)
    }

    private func roundTrip(_ value: some CloudKitModel & Equatable) throws {
        func roundTrip<Model: CloudKitModel & Equatable>(_ value: Model) throws {
            let encoded = try CloudKitGraphEncoder(zoneID: .default).encode(value)
            let read = try CloudKitGraphDecoder().decode(
                Model.self,
                from: encoded.records,
                root: encoded.rootID
            )
            #expect(read == value)
        }
        try roundTrip(value)
    }

    private func check(_ value: some Codable & Equatable) throws {
        let error = #expect(throws: CloudKitGraphError.self) {
            try CloudKitGraphEncoder(zoneID: .default).encode(Holder(value: value))
        }
        #expect(error?.message.contains("Leaf is a model") == true)
        #expect(error?.message.contains(".json for its key") == true)
        #expect(error?.codingPath.first?.stringValue == "value")
        let alone = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(Holder(value: value))
        }
        #expect(alone.map { "\($0)" }?.contains("Leaf is a model") == true)
        try roundTrip(Keeper(value: value))
    }

    @Test("They are refused with the way to say JSON, empty or not, and what says JSON keeps them")
    func refused() throws {
        let leaf = Leaf(id: "1")
        try check([Optional(leaf), nil])
        try check([Leaf?]())
        try check(["a": leaf])
        try check([String: Leaf]())
        try check([[leaf]])
        try check(Plain(leaf: leaf))
        try check([Plain]([Plain(leaf: leaf)]))
        try check(Deep(plain: ["a": [Plain(leaf: leaf)]]))
        try check(Deep())
        try check(Choice.leaf(leaf))
        try check(Optional(Plain(leaf: leaf)))
    }

    @Test("What refers to them, or holds none, is not refused")
    func accepted() throws {
        let leaf = Leaf(id: "1")
        try roundTrip(Holder(value: leaf))
        try roundTrip(Holder(value: Optional(leaf)))
        try roundTrip(Holder(value: [leaf]))
        try roundTrip(Holder(value: Optional([leaf])))
        try roundTrip(Holder(value: Choice.none))
        try roundTrip(Holder(value: CloudKitReference(to: leaf)))
        try roundTrip(Holder(value: [CloudKitReference(to: leaf)]))
        try roundTrip(Holder(value: ["a": CloudKitReference(to: leaf)]))
        try roundTrip(Holder(value: Maybe(wrappedValue: leaf)))
    }
}

/// A value of any kind, recognised by its contents.
enum AnyValue: Codable, Equatable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case list([AnyValue])
    case table([String: AnyValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? container.decode(Int.self) {
            self = .int(int)
        } else if let double = try? container.decode(Double.self) {
            self = .double(double)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let list = try? container.decode([AnyValue].self) {
            self = .list(list)
        } else {
            self = .table(try container.decode([String: AnyValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .table(let value): try container.encode(value)
        }
    }
}

@Suite("Values of any kind")
struct AnyValueTests {
    typealias Holder = ModelPlaceTests.Holder
    typealias Keeper = ModelPlaceTests.Keeper

    private static let values: [AnyValue] = [
        .null, .bool(true), .bool(false), .int(0), .int(1), .int(-7), .double(0), .double(1),
        .double(2), .double(0.5), .string(""), .string("1"), .string("null"), .list([]),
        .list([.int(1), .bool(true), .null]), .table([:]), .table(["a": .int(1)]),
    ]

    @Test(
        "None comes back as another: it is itself, or an error that hints at .json",
        arguments: values
    )
    func native(value: AnyValue) throws {
        let encoder = CloudKitGraphEncoder(zoneID: .default)
        do {
            let encoded = try encoder.encode(Holder(value: value))
            let read = try CloudKitGraphDecoder().decode(
                Holder<AnyValue>.self,
                from: encoded.records,
                root: encoded.rootID
            )
            #expect(read.value == value)
        } catch let error as CloudKitGraphError {
            #expect(error.message.contains(".json"))
        }
    }

    @Test("An integer that would be read as a truth value is such an error")
    func refused() {
        for value in [AnyValue.int(1), .int(0), .double(1), .double(2)] {
            let error = #expect(throws: CloudKitGraphError.self) {
                try CloudKitGraphEncoder(zoneID: .default).encode(Holder(value: value))
            }
            #expect(error?.message.contains("use .json") == true)
        }
    }

    /// JSON encodes a double without a fraction as an integer, which no coder can distinguish.
    private static let inJSON = values.filter {
        ![.double(0), .double(1), .double(2)].contains($0)
    }

    @Test("With .json every one comes back that JSON distinguishes", arguments: inJSON)
    func json(value: AnyValue) throws {
        let encoded = try CloudKitGraphEncoder(zoneID: .default).encode(Keeper(value: value))
        let read = try CloudKitGraphDecoder().decode(
            Keeper<AnyValue>.self,
            from: encoded.records,
            root: encoded.rootID
        )
        #expect(read.value == value)
    }
}
