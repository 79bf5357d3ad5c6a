import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Testing

@Suite("Encoding the same value again")
struct UntouchedTests {
    static let values: [any Encodable & Sendable] = [
        Everything(), Person.rambo(), Theme(name: "a", shade: nil), ShapeTests.Nested(),
        DropInTests.Enums(size: .large, level: .low, optional: nil, plain: .green),
        DropInTests.Lists(
            keys: [UUID()],
            themes: [Theme(name: "a", shade: 1)],
            names: ["x"],
            themesByName: ["b": Theme(name: "b", shade: 2), "a": Theme(name: "a", shade: nil)]
        ),
        DropInTests.Lists(keys: [], themes: [], names: [], themesByName: [:]),
        DropInTests.Document(contents: DropInTests.Contents(id: "1", text: "x")),
        5, "text", [1, 2, 3], Meters(3), Colour.green, [Colour.red: 1, .green: 2],
        [[1], [], [2, 3]], Set([3, 1, 2]),
        TimeZoneEntry(
            name: "a",
            comments: nil,
            coordinate: CLLocation(latitude: 1, longitude: 2)
        ),
    ]

    private func database() async throws -> CKDatabase {
        let cloud = try await TestCloud()
        return try await cloud.device(of: try await cloud.addUser("Ada")).privateCloudDatabase
    }

    @Test("A text in its other form, and zero with its other sign, are changes")
    func otherBytes() async throws {
        struct Note: CloudKitModel {
            var text: String
            var texts: [String]
            var number: Double
            var numbers: [Double]
            var recordName: String { "note" }
        }
        let encoder = CloudKitRecordEncoder()
        encoder.forms = .native
        let composed = Note(text: "caf\u{e9}", texts: ["caf\u{e9}"], number: 0, numbers: [0])
        let record = try encoder.encode(composed)
        let saved = try await database().save(record)
        try encoder.encode(composed, onto: saved)
        #expect(changes(of: saved) == [])
        let other = Note(
            text: "cafe\u{301}",
            texts: ["cafe\u{301}"],
            number: -0.0,
            numbers: [-0.0]
        )
        try encoder.encode(other, onto: saved)
        #expect(changes(of: saved).sorted() == ["number", "numbers", "text", "texts"])
    }

    /// A structure within a record, equal to every one with its number.
    private struct Badge: Codable, Equatable {
        var id: Int
        var text: String
        var tags: Set<String>
        static func == (one: Badge, other: Badge) -> Bool { one.id == other.id }
    }

    private struct Guest: CloudKitModel {
        var badge: Badge
        var badges: [Badge]
        var recordName: String { "guest" }
    }

    @Test("A change within JSON is sent, also where the values call themselves equal")
    func withinJSON() async throws {
        let database = try await database()
        let encoder = CloudKitRecordEncoder()
        let badge = Badge(id: 1, text: "caf\u{e9} [\"{,", tags: ["a", "b", "\\\"]", "c"])
        let guest = Guest(badge: badge, badges: [badge, Badge(id: 2, text: "", tags: [])])
        let saved = try await database.save(encoder.encode(guest))
        func touched(_ edit: (inout Guest) -> Void) throws -> [String] {
            var other = guest
            edit(&other)
            let record = try #require(saved.copy() as? CKRecord)
            try encoder.encode(other, onto: record)
            return changes(of: record).sorted()
        }
        #expect(try touched { $0.badge.text = "cafe\u{301} [\"{," } == ["badge"])
        #expect(try touched { $0.badge.tags = ["a", "b", "\\\"]"] } == ["badge"])
        #expect(try touched { $0.badges[1].text = "x" } == ["badges"])
        #expect(try touched { $0.badges.swapAt(0, 1) } == ["badges"])
        // The same elements in a table of another size have another order.
        for capacity in stride(from: 1, to: 600, by: 60) {
            let touched = try touched { guest in
                var tags = Set<String>(minimumCapacity: capacity)
                tags.formUnion(guest.badge.tags)
                guest.badge.tags = tags
            }
            #expect(touched == [])
        }
        // A newer version's additions stay where nothing was edited.
        saved["badge"] = Data(#"{"id":1,"new":true,"tags":[],"text":""}"#.utf8)
        let newer = try await database.save(saved)
        let unedited = Badge(id: 1, text: "", tags: [])
        try encoder.encode(Guest(badge: unedited, badges: guest.badges), onto: newer)
        #expect(changes(of: newer) == [])
    }

    /// A direction that encodes itself identically either way.
    private struct Way: Codable, Equatable {
        var stops: [String]
        static func == (one: Way, other: Way) -> Bool { one.stops.sorted() == other.stops.sorted() }
    }

    private struct Tour: CloudKitModel {
        var way: Way
        var recordName: String { "tour" }
    }

    @Test("A new order within JSON is sent, also where the values call themselves equal")
    func orderWithinJSON() async throws {
        let encoder = CloudKitRecordEncoder()
        let saved = try await database().save(encoder.encode(Tour(way: Way(stops: ["a", "b"]))))
        try encoder.encode(Tour(way: Way(stops: ["a", "b"])), onto: saved)
        #expect(changes(of: saved) == [])
        try encoder.encode(Tour(way: Way(stops: ["b", "a"])), onto: saved)
        #expect(changes(of: saved) == ["way"])
    }

    private func changes(of record: CKRecord) -> [String] {
        record.changedKeys() + record.encryptedValues.changedKeys()
    }

    @Test(
        "Encoding the same value again touches nothing, whatever its shape",
        arguments: [CloudKitRecordForms.original, .native]
    )
    func untouched(forms: CloudKitRecordForms) async throws {
        let database = try await database()
        let encoder = CloudKitRecordEncoder()
        encoder.forms = forms
        for (index, value) in Self.values.enumerated() {
            let name = (value as? any CloudKitModel)?.recordName ?? "value\(index)"
            let recordID = CKRecord.ID(recordName: name)
            let record = CKRecord(recordType: "Shape\(index)", recordID: recordID)
            try encoder.encode(value, onto: record)
            let saved = try await database.save(record)
            #expect(changes(of: saved) == [])
            try encoder.encode(value, onto: saved)
            #expect(changes(of: saved) == [], "\(value) as it was saved")
            let fetched = try await database.record(for: record.recordID)
            // A date within loses the precision that the service does not store: below a millisecond.
            if value is TimeZoneEntry || value is Everything { continue }
            try encoder.encode(value, onto: fetched)
            #expect(changes(of: fetched) == [], "\(value) as it was fetched")
        }
    }

    @Test("A graph that was loaded and not edited sends nothing")
    func graph() async throws {
        let database = try await database()
        let saved = try await database.save(Everything(), in: .default)
        let encoder = CloudKitGraphEncoder(zoneID: .default)
        let again = try encoder.encode(saved.root, onto: saved.records)
        #expect(again.changed.isEmpty)
        #expect(again.records.flatMap(changes) == [])
        let loaded = try await database.graph(Everything.self, for: saved.rootID)
        let unedited = try encoder.encode(loaded.root, onto: loaded.records)
        #expect(unedited.changed.isEmpty)
        #expect(unedited.records.flatMap(changes) == [])
    }

    @Test("One edited property of many is the only one that is touched")
    func edited() async throws {
        let database = try await database()
        var graph = try await database.save(Everything(), in: .default)
        let encoder = CloudKitGraphEncoder(zoneID: .default)
        func changed(_ edit: (inout Everything) -> Void) throws -> [String] {
            var value = graph.root
            edit(&value)
            return try encoder.encode(value, onto: graph.records).changed.flatMap(changes)
        }
        #expect(try changed { $0.int8 = 1 } == ["int8"])
        #expect(try changed { $0.theme.shade = 1 } == ["theme"])
        #expect(try changed { $0.tags.remove(Tag(rawValue: "a")) } == ["tags"])
        #expect(try changed { $0.table["c"] = 3 } == ["table"])
        #expect(try changed { $0.maybeLength = nil } == ["maybeLength"])
        #expect(try changed { $0.secret = "new" } == ["secret"])
        #expect(try changed { $0.scan = Data([1]) } == ["scan"])
        #expect(try changed { $0.memo = Data(count: 60) } == ["memo", "memo_asset"])
        #expect(try changed { $0.noNames = ["x"] } == ["noNames"])
        graph.root.int8 = 1
    }

    @Test("The same value is the same bytes each time, whatever the order of its hash tables")
    func deterministic() throws {
        struct Tables: Codable {
            var byColour: [Colour: Int]
            var byNumber: [Int: String]
            var byName: [String: Int]
            var tags: Set<Tag>
            var themes: Set<Theme>
        }
        func tables(_ capacity: Int) -> Tables {
            var tables = Tables(byColour: [:], byNumber: [:], byName: [:], tags: [], themes: [])
            // Tables of another size store their entries in another order.
            tables.byColour.reserveCapacity(capacity)
            tables.byNumber.reserveCapacity(capacity)
            tables.byName.reserveCapacity(capacity)
            tables.tags.reserveCapacity(capacity)
            tables.themes.reserveCapacity(capacity)
            for number in 0..<20 {
                tables.byNumber[number] = "\(number)"
                tables.byName["\(number)"] = number
                tables.tags.insert(Tag(rawValue: "\(number)"))
                tables.themes.insert(Theme(name: "\(number)", shade: number))
            }
            tables.byColour = [.red: 1, .green: 2]
            return tables
        }
        for forms in [CloudKitRecordForms.original, .native] {
            let encoder = CloudKitRecordEncoder()
            encoder.forms = forms
            let first = try encoder.encode(tables(0))
            let second = try encoder.encode(tables(1000))
            for key in first.allKeys() {
                let objects = [first, second].map { $0.object(forKey: key) as? NSObject }
                #expect(objects[0] == objects[1], "\(key)")
            }
            #expect(first["byColour"] == Data(#"["green",2,"red",1]"#.utf8))
        }
    }

    @Test("What crosses tasks is Sendable")
    func sendable() {
        func sendable<Value: Sendable>(_ type: Value.Type) -> String { "\(type)" }
        let types = [
            sendable(CloudKitGraphEncoder.self), sendable(CloudKitGraphDecoder.self),
            sendable(CloudKitGraph<Photo>.self), sendable(EncodedGraph.self),
            sendable(CloudKitGraphError.self), sendable(CloudKitRecordEncodingError.self),
            sendable(CloudKitField.self), sendable(CloudKitFields.self),
            sendable(CloudKitReference<Photo>.self), sendable(CloudKitRecordForms.self),
            sendable(MissingRecords.self), sendable(RecordSize.self),
            sendable(CloudKitSchema.self),
        ]
        #expect(Set(types).count == types.count)
    }
}
