import CloudKit
import CloudKitCodable
import Foundation
import Testing

@Suite("Values under one record name")
struct SameNameTests {
    /// A model that is not `Equatable`: only its encoded form can be compared.
    struct Mark: CloudKitModel {
        var name: String
        var text: String
        var secret: String = ""
        var scan = Data([1])
        var votes: [Colour: Int] = [.red: 1, .green: 2]
        var next: [Mark] = []
        var recordName: String { name }

        static var fields: CloudKitFields {
            [CodingKeys.secret: .encrypted, CodingKeys.scan: .asset]
        }
    }

    struct Page: CloudKitModel {
        var first: Mark
        var others: [Mark]
        var recordName: String { "page" }
    }

    final class Shape: CloudKitModel {
        var sides: Int
        var recordName: String { "shape" }

        init(sides: Int) { self.sides = sides }
    }

    struct Drawing: CloudKitModel {
        var shapes: [Shape]
        var recordName: String { "drawing" }
    }

    struct Box: CloudKitModel {
        var name: String
        var things: [Mark]
        var recordName: String { name }

        static var fields: CloudKitFields { [CodingKeys.things: .children(via: "box")] }
    }

    struct Room: CloudKitModel {
        var boxes: [Box]
        var recordName: String { "room" }
    }

    /// A model equal to every one with its name, like many types that are shown in lists.
    struct Singer: CloudKitModel, Equatable {
        var name: String
        var text = ""
        var badge = Badge(id: 1, text: "")
        var recordName: String { name }

        struct Badge: Codable, Equatable {
            var id: Int
            var text: String
            static func == (one: Badge, other: Badge) -> Bool { one.id == other.id }
        }

        static func == (one: Singer, other: Singer) -> Bool { one.name == other.name }
    }

    struct Choir: CloudKitModel {
        var singers: [Singer]
        var recordName: String { "choir" }
    }

    let encoder = CloudKitGraphEncoder(zoneID: CKRecordZone.ID(zoneName: "Z"))

    @Test("The same value on two paths is one record")
    func same() throws {
        let leaf = Mark(name: "leaf", text: "1")
        let mark = Mark(name: "a", text: "1", next: [leaf])
        let encoded = try encoder.encode(Page(first: mark, others: [mark, leaf, mark]))
        #expect(encoded.records.map(\.recordID.recordName) == ["leaf", "a", "page"])
        let drawing = Drawing(shapes: [Shape(sides: 3), Shape(sides: 3)])
        #expect(try encoder.encode(drawing).records.count == 2)
        let box = Box(name: "box", things: [leaf])
        #expect(try encoder.encode(Room(boxes: [box, box])).records.count == 3)
    }

    @Test("A value that differs is an error with the record, the field and both paths")
    func different() {
        let mark = Mark(name: "a", text: "1", next: [Mark(name: "leaf", text: "1")])
        var others = Array(repeating: mark, count: 6)
        others[0].text = "2"
        others[1].secret = "2"
        others[2].scan = Data([2])
        others[3].votes = [.red: 1]
        others[4].next = []
        others[5].next = [Mark(name: "new", text: "")]
        let fields = ["text", "secret", "scan", "votes", "next", "next"]
        for (other, field) in zip(others, fields) {
            let error = #expect(throws: CloudKitGraphError.self) {
                try encoder.encode(Page(first: mark, others: [mark, other]))
            }
            #expect(error?.code == .identityClash)
            #expect(error?.recordID?.recordName == "a" && error?.recordType == "Mark")
            #expect(error?.codingPath.map(\.stringValue) == ["others", "Index 1"])
            #expect(error?.message.contains("at first has") == true)
            #expect(error?.message.contains("in the field \(field);") == true)
        }
    }

    @Test("Deep inside, and between instances of classes, the same holds")
    func deep() {
        var mark = Mark(name: "a", text: "1", next: [Mark(name: "leaf", text: "1")])
        let first = mark
        mark.next[0].text = "2"
        let error = #expect(throws: CloudKitGraphError.self) {
            try encoder.encode(Page(first: first, others: [mark]))
        }
        #expect(
            error?.codingPath.map(\.stringValue) == ["others", "Index 0", "next", "Index 0"]
        )
        #expect(error?.message.contains("at first.next[0] has") == true)

        let shapes = #expect(throws: CloudKitGraphError.self) {
            try encoder.encode(Drawing(shapes: [Shape(sides: 3), Shape(sides: 4)]))
        }
        #expect(shapes?.message.contains("in the field sides") == true)
    }

    @Test("Two lists of children under one owner are distinguished")
    func children() {
        let one = Mark(name: "one", text: "")
        let two = Mark(name: "two", text: "")
        for others in [[], [two], [one, two], [two, one]] {
            let boxes = [Box(name: "box", things: [one]), Box(name: "box", things: others)]
            let error = #expect(throws: CloudKitGraphError.self) {
                try encoder.encode(Room(boxes: boxes))
            }
            #expect(error?.code == .identityClash)
            #expect(error?.codingPath.map(\.stringValue) == ["boxes", "Index 1"])
        }
    }

    @Test("That values are equal by their own word does not make them the same")
    func equalByName() throws {
        let singer = Singer(name: "a")
        var others = [singer, singer]
        others[0].text = "2"
        others[1].badge.text = "2"
        for (other, field) in zip(others, ["text", "badge"]) {
            let error = #expect(throws: CloudKitGraphError.self) {
                try encoder.encode(Choir(singers: [singer, other]))
            }
            #expect(error?.code == .identityClash)
            #expect(error?.message.contains("in the field \(field);") == true)
        }
    }

    @Test("A child that differs in the second of two lists under one owner is distinguished")
    func childOfSecond() throws {
        let things = ["1", "2"].map { [Mark(name: "one", text: $0), Mark(name: "two", text: "")] }
        let boxes = things.map { Box(name: "box", things: $0) }
        let error = #expect(throws: CloudKitGraphError.self) {
            try encoder.encode(Room(boxes: boxes))
        }
        #expect(error?.code == .identityClash)
        #expect(error?.recordID?.recordName == "one")
        let path = ["boxes", "Index 1", "things", "Index 0"]
        #expect(error?.codingPath.map(\.stringValue) == path)
        // Copies that are stored elsewhere are compared too, and are the same.
        var copy = boxes[0]
        copy.things = copy.things.map { Mark(name: $0.name, text: $0.text) }
        #expect(try encoder.encode(Room(boxes: [boxes[0], copy])).records.count == 4)
    }
}
