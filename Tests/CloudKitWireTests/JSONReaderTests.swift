import CloudKitWire
import Foundation
import Testing

@Suite("The reader of common requests")
struct JSONReaderTests {
    @Test("reads common requests as the decoder does", arguments: JSONReaderTests.commonRequests)
    func common(request: String) throws {
        let data = Data(request.utf8)
        let read = try #require(ModifyRecordsRequest(common: data))
        #expect(try read == WireJSON.decode(ModifyRecordsRequest.self, from: data))
    }

    @Test("gives up on rare and on broken requests", arguments: JSONReaderTests.otherRequests)
    func rare(request: String) {
        #expect(ModifyRecordsRequest(common: Data(request.utf8)) == nil)
    }

    @Test("reads lookups as the decoder does")
    func lookups() throws {
        let requests = [
            #"{"records":[{"recordName":"a"},{"desiredKeys":["x"],"recordName":"b"}]}"#,
            #" {"zoneID":{"zoneName":"Z","ownerRecordName":null},"records":[],"x":[1,{}]} "#,
            #"{"records":[],"desiredKeys":[],"numbersAsStrings":true}"#,
        ]
        for request in requests {
            let data = Data(request.utf8)
            let read = try #require(LookupRecordsRequest(common: data))
            #expect(try read == WireJSON.decode(LookupRecordsRequest.self, from: data))
        }
        for request in [#"{"records":[{}]}"#, "{}", #"{"records":[]} x"#, "[]"] {
            #expect(LookupRecordsRequest(common: Data(request.utf8)) == nil)
        }
    }

    @Test("Passes over no member of a record that the decoder knows")
    func everyMember() throws {
        var record = WireRecord(
            recordName: "n",
            recordType: "T",
            recordChangeTag: "1",
            fields: ["f": WireField(.string("x"))],
            zoneID: WireZoneID(zoneName: "Z")
        )
        record.parent = WireReference(recordName: "p")
        record.removesParent = true
        record.deleted = false
        // Members that are left empty occur only in responses, or are not for the reader.
        let others: Set = [
            "created", "modified", "share", "createShortGUID", "shortGUID", "shareParts",
        ]
        for (name, value) in Mirror(reflecting: record).children {
            let isEmpty =
                Mirror(reflecting: value).displayStyle == .optional
                && Mirror(reflecting: value).children.isEmpty
            #expect(isEmpty == others.contains(try #require(name)), "\(name ?? "")")
        }
        let request = ModifyRecordsRequest(operations: [RecordOperation(.update, record)])
        #expect(ModifyRecordsRequest(common: try JSONEncoder().encode(request)) == request)
    }

    @Test("A request with any byte changed is read as the decoder reads it, or left to it")
    func changes() {
        // Multiplies and adds, nearly random and the same in every run.
        var state: UInt64 = 42
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let marks = Array(#"{}[]",:\0129-+.eEtfnaul "#.utf8) + [0, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
        for round in 0..<4000 {
            var bytes = Array(Self.commonRequests[round % Self.commonRequests.count].utf8)
            for _ in 0...next(2) {
                let place = next(bytes.count)
                switch next(3) {
                case 0: bytes[place] = marks[next(marks.count)]
                case 1: bytes.insert(marks[next(marks.count)], at: place)
                default: bytes.remove(at: place)
                }
            }
            let data = Data(bytes)
            guard let read = ModifyRecordsRequest(common: data) else { continue }
            let decoded = try? WireJSON.decode(ModifyRecordsRequest.self, from: data)
            #expect(read == decoded, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }

    private static func saving(_ field: String) -> String {
        """
        {"operations":[{"operationType":"create","record":{"recordName":"n","recordType":"T",\
        "fields":{"f":\(field)}}}]}
        """
    }

    static let commonRequests: [String] =
        [
            #"{"operations":[]}"#,
            """
             { "zoneID" : {"zoneName":"Z","ownerRecordName":"_o","zoneType":"X"}, "atomic": true,
            "desiredKeys":["a","b"], "numbersAsStrings":false, "more":{"a":[1,2.5,"x",null,true]},
            "operations":[{"operationType":"forceDelete","record":{"recordName":"a"}},
            {"record":{"fields":null,"recordChangeTag":"1e","zoneID":null,
            "parent":{"recordName":"p","action":"NONE"},"pluginFields":{},"deleted":false},
            "operationType":"update","desiredKeys":null}] }\n
            """,
            #"{"operations":[],"zoneID":{},"atomic":null,"desiredKeys":null}"#,
        ]
        + [
            #"{"value":"x"}"#, #"{"value":"é \"q\" \\ \/ \n","type":"STRING"}"#,
            #"{"value":"\u00e9\uD83D\ude00 \b\f\u0000"}"#,
            #"{"type":"INT64","value":-5}"#, #"{"value":5}"#, #"{"value":0.5}"#,
            #"{"value":2,"type":"DOUBLE"}"#, #"{"value":-1.5e-3,"type":"NUMBER_DOUBLE"}"#,
            #"{"value":1767225600000,"type":"TIMESTAMP"}"#, #"{"value":"AQID","type":"BYTES"}"#,
            #"{"value":null,"type":"STRING"}"#, #"{"type":"STRING"}"#, "{}",
            #"{"value":"s","type":"ENCRYPTED_STRING","isEncrypted":true}"#,
            #"{"value":{"recordName":"a","zoneID":{"zoneName":"Z"},"action":"VALIDATE"}}"#,
            #"{"value":{"longitude":1,"latitude":2.5,"timestamp":7},"type":"LOCATION"}"#,
            #"{"value":{"latitude":1,"longitude":2}}"#,
            #"{"value":{"fileChecksum":"A","size":3,"receipt":"R"},"type":"ASSETID"}"#,
            #"{"value":{"receipt":"R","wrappingKey":"W","referenceChecksum":"C"}}"#,
            #"{"value":["a","b"]}"#, #"{"value":[]}"#, #"{"value":[1,2],"type":"INT64_LIST"}"#,
            #"{"value":[],"type":"STRING_LIST"}"#, #"{"value":[1,2.5],"type":"DOUBLE_LIST"}"#,
            #"{"value":[{"recordName":"a"},{"recordName":"b"}]}"#,
            #"{"value":[],"type":"UNKNOWN_LIST"}"#,
        ].map(saving)

    static let otherRequests: [String] =
        [
            "", "x", "[]", "{}", #"{"operations":[]"#, #"{"operations":[]} x"#,
            #"{"operations":[],"operations":[]}"#, #"{"operations":[{"operationType":"create"}]}"#,
            #"{"operations":[{"operationType":"CREATE","record":{}}]}"#,
            #"{"operations":[],"atomic":1}"#, #"{"operations":[],"x":01}"#,
            #"{"operations":[],"x":1.}"#, #"{"operations":[],"x":nul}"#,
            #"{"operations":[],}"#, #"{"operations":[1,]}"#,
            """
            {"operations":[{"operationType":"create",\
            "record":{"recordName":"s","recordType":"cloudkit.share"}}]}
            """,
        ]
        + [
            #""x""#, #"{"value":true}"#, #"{"value":1,"type":"STRING"}"#,
            #"{"value":1.5,"type":"INT64"}"#, #"{"value":2.0}"#, #"{"value":[1,"a"]}"#,
            #"{"value":[["a"]]}"#, #"{"value":{"name":"x"}}"#, #"{"value":1,"type":"MAGIC"}"#,
            #"{"value":9223372036854775808}"#, #"{"value":"\uD83D"}"#, #"{"value":"\x41"}"#,
            #"{"value":"a\#u{1}"}"#,
            #"{"value":"!","type":"BYTES"}"#, #"{"value":{"latitude":1},"type":"LOCATION"}"#,
            #"{"value":{"recordName":"a","action":"KEEP"}}"#, #"{"value":1e999,"type":"DOUBLE"}"#,
        ].map(saving)
}
