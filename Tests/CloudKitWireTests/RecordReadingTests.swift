import CloudKitWire
import Foundation
import Testing

/// Responses with many records are read by a reader of their own.
///
/// `JSONDecoder` is the judge: both return the same for any bytes.
@Suite("Reading responses with records")
struct RecordReadingTests {
    private static func record(_ name: String) -> WireRecord {
        var record = WireRecord(
            recordName: name,
            recordType: "Note",
            recordChangeTag: "1a",
            zoneID: WireZoneID(zoneName: "Notes", ownerRecordName: "_ada", zoneType: "REGULAR")
        )
        for (index, value) in FieldCodingTests.values.enumerated() {
            record.fields["f\(index)"] = WireField(value, isEncrypted: index == 3)
        }
        record.fields["text"] = WireField(.string("a \"quoted\" \\ line\nwith\tté 🎈 \u{1}"))
        record.fields["cleared"] = WireField(nil)
        record.fields["größe"] = WireField(.double(1e-7))
        record.created = .init(timestamp: 1, userRecordName: "_ada", deviceID: "2")
        record.modified = .init(timestamp: .max / 10, userRecordName: nil, deviceID: nil)
        record.deleted = false
        record.parent = WireReference(recordName: "p", action: WireReference.Action.none)
        record.shortGUID = "0abc"
        return record
    }

    private static let records = RecordsResponse(
        records: [.success(record("a")), .success(WireRecord(recordName: "b"))],
        continuationMarker: "more",
        syncToken: "t=="
    )

    private static let failures = RecordsResponse(
        records: [.success(record("a")), .failure(ItemError(.notFound, reason: "gone"))]
    )

    private static let share: RecordsResponse = {
        var share = WireRecord(recordName: "s", recordType: WireRecord.shareType)
        share.shortGUID = "0share"
        return RecordsResponse(records: [.success(share)])
    }()

    private static let changes = ZoneChangesResponse(
        zones: [
            .success(
                .init(
                    zoneID: WireZoneID(zoneName: "Notes"),
                    records: [.success(record("a")), .success(record("b"))],
                    syncToken: "AQAAAA==",
                    moreComing: true
                )
            )
        ]
    )

    private static let request = ModifyRecordsRequest(
        operations: [
            RecordOperation(.create, record("a")),
            RecordOperation(.forceDelete, WireRecord(recordName: "b"), desiredKeys: ["x"]),
        ],
        zoneID: WireZoneID(zoneName: "Notes"),
        atomic: true,
        desiredKeys: []
    )

    /// Returns whether the reader and `JSONDecoder` return the same for some bytes.
    private func agree<Message: Codable & Equatable>(
        _ type: Message.Type,
        _ data: Data
    ) -> Bool {
        let expected = try? JSONDecoder().decode(type, from: data)
        let found = try? WireJSON.decode(type, from: data)
        return expected == found
    }

    private func check<Message: Codable & Equatable>(
        _ message: Message,
        damages: Int = 0
    ) throws {
        for formatting: JSONEncoder.OutputFormatting in [[], .prettyPrinted, .sortedKeys] {
            let encoder = JSONEncoder()
            encoder.outputFormatting = formatting
            let data = try encoder.encode(message)
            #expect(try WireJSON.decode(Message.self, from: data) == message)
            #expect(agree(Message.self, data))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(message)
        var random: UInt64 = 42
        func number(_ count: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % UInt64(count))
        }
        let replacements = Array(#"{}[]",:\/0123456789.-+eEtruefalsn ué"#.utf8) + [0, 0x80, 0xFF]
        for _ in 0..<damages {
            var damaged = data
            for _ in 0...number(2) {
                let place = damaged.startIndex + number(damaged.count)
                switch number(3) {
                case 0: damaged[place] = replacements[number(replacements.count)]
                case 1: damaged.remove(at: place)
                default:
                    let end = min(place + 1 + number(20), damaged.endIndex)
                    damaged.insert(contentsOf: damaged[place..<end], at: place)
                }
            }
            let text = String(decoding: damaged, as: UTF8.self)
            #expect(agree(Message.self, damaged), "\(text)")
        }
    }

    @Test("What was written is read, however it is laid out")
    func roundTrips() throws {
        try check(Self.records)
        try check(Self.failures)
        try check(Self.share)
        try check(Self.changes)
        try check(Self.request)
        let fields: [String: WireField] = Self.record("a").fields
        try check(fields)
    }

    @Test("Damaged messages are refused or read as JSONDecoder does")
    func damages() throws {
        try check(Self.records, damages: 1_500)
        try check(Self.failures, damages: 500)
        try check(Self.changes, damages: 1_000)
        try check(Self.request, damages: 1_500)
    }

    @Test(
        "Odd but valid forms are read",
        arguments: [
            #"{"records":[{"recordName":"a","fields":{"n":{"type":"INT64","value":5.0}}}]}"#,
            #"{"records":[{"recordName":"a","fields":{"n":{"type":"INT64","value":"5"}}}]}"#,
            #"{"records":[{"recordName":"a","fields":{"n":{"value":5}}}]}"#,
            #"{"records":[{"recordName":"a","fields":{"n":{"value":9223372036854775807,"type":"INT64"}}}]}"#,
            #"{"records":[{"recordName":"a","fields":{"n":{"value":null,"type":"INT64"}}}]}"#,
            #"{"records":[{"recordName":"\ud83c\udf88\u00e9\/","recordType":null}]}"#,
            #"{"records":[{"recordName":"a","new":[{"x":[1,2e3,true,null,"\\"]}]}]}"#,
            #"{"records":[],"other":{}}"#, #" { "records" : [ ] } "#,
            #"{"records":[{"recordName":"a","fields":{"n":{"value":[],"type":"UNKNOWN_LIST"}}}]}"#,
            #"{"records":[{"recordName":"a","fields":{"n":{"value":["x"],"type":"EMPTY_LIST"}}}]}"#,
        ]
    )
    func oddForms(_ text: String) throws {
        let data = Data(text.utf8)
        #expect(try WireJSON.decode(RecordsResponse.self, from: data).records.count <= 1)
        #expect(agree(RecordsResponse.self, data))
    }

    @Test("An error names its place whoever reads")
    func errors() throws {
        let text =
            #"{"records":[{"recordName":"a","fields":{"n":{"value":"x","type":"INT64"}}}]}"#
        let error = try #require(throws: DecodingError.self) {
            try WireJSON.decode(RecordsResponse.self, from: Data(text.utf8))
        }
        #expect(WireJSON.place(of: error).hasPrefix("records[0].fields.n.value"))
    }
}
