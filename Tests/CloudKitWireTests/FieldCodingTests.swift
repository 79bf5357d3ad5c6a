import CloudKitWire
import Foundation
import Testing

@Suite("Field values on the wire")
struct FieldCodingTests {
    static let values: [WireValue] = [
        .string("Milk"), .string(""), .int64(.min), .int64(.max), .double(2.5), .double(5),
        .timestamp(1_767_225_600_000), .bytes(Data([0, 255])), .bytes(Data()),
        .reference(WireReference(recordName: "n", action: .deleteSelf)),
        .location(WireLocation(latitude: 51.5, longitude: -0.1, timestamp: 1)),
        .asset(WireAsset(fileChecksum: "c", size: 3, receipt: "r")),
        .list([.string("a"), .string("b")], of: .string),
        .list([.int64(1)], of: .int64), .list([.double(1)], of: .double),
        .list([.timestamp(1)], of: .timestamp), .list([.bytes(Data([1]))], of: .bytes),
        .list([.reference(WireReference(recordName: "n"))], of: .reference),
        .list([.location(WireLocation(latitude: 1, longitude: 2))], of: .location),
        .list([.asset(WireAsset(fileChecksum: "c"))], of: .asset),
        .list([], of: .string), .list([], of: nil),
    ]

    @Test("Every value comes back as it was written", arguments: values)
    func roundTrip(value: WireValue) throws {
        let data = try WireJSON.encode(WireField(value, isEncrypted: true))
        let field = try WireJSON.decode(WireField.self, from: data)
        #expect(field.value == value)
        #expect(field.isEncrypted)
    }

    @Test("Numbers written as strings are read as numbers")
    func numbersAsStrings() throws {
        for value: WireValue in [.int64(.max), .double(0.1)] {
            let data = try WireJSON.encode(WireField(value), numbersAsStrings: true)
            #expect(String(decoding: data, as: UTF8.self).contains("\"value\":\""))
            #expect(try WireJSON.decode(WireField.self, from: data).value == value)
        }
    }

    @Test("Both families of number tags, and other spellings, are understood")
    func tags() {
        #expect(FieldType(tag: "NUMBER_INT64") == FieldType(.int64))
        #expect(FieldType(tag: "NUMBER_DOUBLE_LIST") == FieldType(listOf: .double))
        #expect(FieldType(tag: "ENCRYPTED_STRING") == FieldType(.string))
        #expect(FieldType(tag: "ASSET") == FieldType(.asset))
        #expect(FieldType(tag: "EMPTY_LIST") == FieldType(listOf: nil))
        #expect(FieldType(tag: "STRINGS") == nil)
        for scalar in FieldType.Scalar.allCases {
            #expect(FieldType(tag: FieldType(scalar).tag) == FieldType(scalar))
            #expect(FieldType(tag: FieldType(listOf: scalar).tag) == FieldType(listOf: scalar))
        }
    }

    @Test(
        "The type of an untagged value follows from its JSON",
        arguments: [
            (#"{"value":"x"}"#, FieldType(.string)), (#"{"value":5}"#, FieldType(.int64)),
            (#"{"value":5.5}"#, FieldType(.double)),
            (#"{"value":["x"]}"#, FieldType(listOf: .string)),
            (#"{"value":[]}"#, FieldType(listOf: nil)),
            (#"{"value":{"recordName":"n"}}"#, FieldType(.reference)),
            (#"{"value":{"latitude":1,"longitude":2}}"#, FieldType(.location)),
            (#"{"value":{"fileChecksum":"c","receipt":"r"}}"#, FieldType(.asset)),
        ]
    )
    func inference(json: String, type: FieldType) throws {
        let field = try WireJSON.decode(WireField.self, from: Data(json.utf8))
        #expect(field.value?.type == type)
        #expect(field.statedType == nil)
    }

    @Test(
        "What is no field value is refused with its place",
        arguments: [
            (#"{"value":1,"type":"TEXT"}"#, "type: Unknown field type TEXT"),
            (#"{"value":"x","type":"INT64"}"#, "value: Expected an integer"),
            (#"{"value":1.5,"type":"TIMESTAMP"}"#, "value: Expected an integer"),
            (#"{"value":"*","type":"BYTES"}"#, "value: Expected base64"),
            (#"{"value":[[1]]}"#, "value[0]: Expected one value; lists do not nest"),
            (#"{"value":{"a":1}}"#, "value: Expected a reference, location or asset"),
        ]
    )
    func refusals(json: String, text: String) {
        let error = #expect(throws: DecodingError.self) {
            try WireJSON.decode(WireField.self, from: Data(json.utf8))
        }
        let place = error.map(WireJSON.place(of:)) ?? ""
        #expect(place.hasPrefix(text), "\(place)")
    }

    @Test("A null or missing value clears the field")
    func clearing() throws {
        #expect(try WireJSON.decode(WireField.self, from: Data("{}".utf8)).value == nil)
        let data = try WireJSON.encode(WireField(nil))
        #expect(String(decoding: data, as: UTF8.self) == #"{"value":null}"#)
        #expect(try WireJSON.decode(WireField.self, from: data).value == nil)
    }
}
