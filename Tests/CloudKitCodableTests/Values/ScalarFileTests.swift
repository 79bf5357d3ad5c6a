import CloudKit
import CloudKitCodable
import Foundation
import Testing

@Suite("Plain values that are stored beside records, or that another version wrote")
struct ScalarFileTests {
    private struct Page: CloudKitModel, Equatable {
        var text = String(repeating: "long ", count: 20)
        var note: String? = "short"
        var none: String?
        var count = 7
        var ratio = 0.5
        var isDone = true

        var recordName: String { "page" }
        static var fields: CloudKitFields {
            [
                CodingKeys.text: .asset, CodingKeys.note: .asset(above: 50),
                CodingKeys.none: .asset, CodingKeys.count: .asset,
                CodingKeys.ratio: .asset(above: 50), CodingKeys.isDone: .asset,
            ]
        }
    }

    private struct PlainPage: CloudKitModel {
        static var recordType: String { "Page" }
        var text = "as it was"
        var note = "then"
        var count = 3
        var ratio = 1.5
        var isDone = false
        var recordName: String { "page" }
    }

    @Test("Text, numbers and flags in files are read again")
    func scalars() throws {
        let page = Page()
        let record = try CloudKitRecordEncoder().encode(page)
        #expect(record["text"] is CKAsset && record["count"] is CKAsset)
        #expect(try CloudKitRecordDecoder().decode(Page.self, from: record) == page)
    }

    @Test("What was a plain field before its property became a file is read")
    func former() throws {
        let record = try CloudKitRecordEncoder().encode(PlainPage())
        let page = try CloudKitRecordDecoder().decode(Page.self, from: record)
        #expect(page.text == "as it was" && page.note == "then" && page.count == 3)
        #expect(page.ratio == 1.5 && !page.isDone && page.none == nil)
    }

    private struct Digest: RawRepresentable, Codable, Equatable {
        var rawValue: Data
    }

    @Test("A list of raw values over data is read in native forms, for types that are no model too")
    func rawData() throws {
        struct Chain: Codable, Equatable {
            var links = [Digest(rawValue: Data([1, 2])), Digest(rawValue: Data("null".utf8))]
        }
        let encoder = CloudKitRecordEncoder()
        encoder.forms = .native
        let record = try encoder.encode(Chain())
        #expect(try CloudKitRecordDecoder().decode(Chain.self, from: record) == Chain())
    }

    private enum Lamp: String, CloudKitStringEnum, CaseIterable {
        case unknown
        case red

        static var cloudKitFallbackCase: Lamp? { .unknown }
    }

    private struct Room: CloudKitModel, Equatable {
        var title: String
        var lamp: Lamp
        var lamps: [Lamp]
        var recordName: String { "room" }
    }

    @Test("A case that only a newer version knows stays, unless the property was set")
    func newerCase() throws {
        let record = try CloudKitRecordEncoder().encode(
            Room(title: "Hall", lamp: .red, lamps: [.red])
        )
        record["lamp"] = "ultraviolet"
        record["lamps"] = ["red", "ultraviolet"]
        var room = try CloudKitRecordDecoder().decode(Room.self, from: record)
        #expect(room.lamp == .unknown && room.lamps == [.red, .unknown])
        room.title = "Big hall"
        try CloudKitRecordEncoder().encode(room, onto: record)
        #expect(record["lamp"] == "ultraviolet" && record["title"] == "Big hall")
        #expect(record["lamps"] == ["red", "ultraviolet"])
        room.lamp = .red
        room.lamps = [.red]
        try CloudKitRecordEncoder().encode(room, onto: record)
        #expect(record["lamp"] == "red" && record["lamps"] == ["red"])
    }

    @Test("JSON that does not fit names its record and field")
    func foreignJSON() throws {
        struct Sizes: CloudKitModel {
            var widths: [String: Int] = ["a": 1]
            var recordName: String { "sizes" }
        }
        let record = try CloudKitRecordEncoder().encode(Sizes())
        record["widths"] = Data("[1]".utf8)
        let error = #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Sizes.self, from: record)
        }
        let text = "\(String(describing: error))"
        #expect(text.contains("sizes") && text.contains("widths"), "\(text)")
    }
}
