#if Macros
import CloudKit
import CloudKitCodable
import CloudKitTesting
import CoreLocation
import Foundation
import Support
import Testing

@Suite("Key-path queries")
struct KeyPathQueryTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let home = CLLocation(latitude: 48.2, longitude: 16.37)

    private static func folderID(_ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zoneID)
    }

    private static let notes: [Memo] = {
        var milk = Memo("milk", title: "Milk")
        milk.subtitle = "two litres of it"
        milk.count = 5
        milk.price = 1.5
        milk.due = Date(timeIntervalSince1970: 1000)
        milk.color = .red
        milk.uuid = UUID(uuidString: "00000000-0000-0000-0000-000000000001")
        milk.tags = ["shop", "dairy"]
        milk.colors = [.red, .green]
        milk.folder = CloudKitReference(recordName: "kitchen")
        milk.folders = [CloudKitReference(recordName: "kitchen")]
        milk.place = home
        var bread = Memo("bread", title: "Milk bread")
        bread.subtitle = "a loaf"
        bread.count = 3
        bread.price = 4
        bread.isDone = true
        bread.due = Date(timeIntervalSince1970: 2000)
        bread.color = .green
        bread.tags = ["shop"]
        bread.colors = [.green]
        bread.folder = CloudKitReference(recordName: "bakery")
        bread.place = CLLocation(latitude: 48.21, longitude: 16.38)
        var call = Memo("call", title: "Call Ada")
        call.subtitle = "about the loaf"
        call.count = 1
        call.due = Date(timeIntervalSince1970: 3000)
        call.owner = CKRecord.Reference(recordID: folderID("kitchen"), action: .none)
        call.place = CLLocation(latitude: -33.9, longitude: 151.2)
        return [milk, bread, call]
    }()

    /// A query, and the names of the notes that it finds.
    private struct Case {
        let predicate: CloudKitPredicate<Memo>
        let names: Set<String>

        init(_ predicate: CloudKitPredicate<Memo>, _ names: String...) {
            self.predicate = predicate
            self.names = Set(names)
        }
    }

    private static func cases() -> [(line: String, case: Case)] {
        let date = Date(timeIntervalSince1970: 2000)
        let uuid = UUID(uuidString: "00000000-0000-0000-0000-000000000001")!
        return [
            ("everything", Case(.everything, "milk", "bread", "call")),
            ("nothing", Case(.nothing)),
            ("== text", Case(\.title == "Milk", "milk")),
            ("!= text", Case(\.title != "Milk", "bread", "call")),
            ("== optional text", Case(\.subtitle == "a loaf", "bread")),
            ("== integer", Case(\.count == 3, "bread")),
            ("> integer", Case(\.count > 3, "milk")),
            (">= integer", Case(\.count >= 3, "milk", "bread")),
            ("< integer", Case(\.count < 3, "call")),
            ("<= integer", Case(\.count <= 3, "bread", "call")),
            ("> fraction", Case(\.price > 2, "bread")),
            ("== flag", Case(\.isDone == true, "bread")),
            (">= date", Case(\.due >= date, "bread", "call")),
            ("== raw value", Case(\.color == .red, "milk")),
            ("!= raw value", Case(\.color != .red, "bread", "call")),
            ("== UUID", Case(\.uuid == uuid, "milk")),
            ("== reference", Case(\.folder == folderID("bakery"), "bread")),
            (
                "is in, references",
                Case(
                    .field(\.folder, isIn: [folderID("bakery"), folderID("kitchen")]),
                    "milk",
                    "bread"
                )
            ),
            (
                "is in, references of another zone",
                Case(.field(\.folder, isIn: [CKRecord.ID(recordName: "bakery")]))
            ),
            (
                "is in, native references",
                Case(.field(\.owner, isIn: [folderID("kitchen")]), "call")
            ),
            (
                "is not in, references",
                Case(!.field(\.folder, isIn: [folderID("bakery")]), "milk", "call")
            ),
            ("== native reference", Case(\.owner == folderID("kitchen"), "call")),
            ("and", Case(\.count > 1 && \.title == "Milk" && \.isDone == false, "milk")),
            ("not", Case(!(\.count > 3), "bread", "call")),
            ("not among others", Case(!(\.title == "Milk") && \.count > 1, "bread")),
            ("is in", Case(.field(\.title, isIn: ["Milk", "Call Ada"]), "milk", "call")),
            ("is in, raw", Case(.field(\.color, isIn: [.green, .blue]), "bread")),
            ("is in none", Case(.field(\.title, isIn: []))),
            ("is not in", Case(!(.field(\.title, isIn: ["Milk"])), "bread", "call")),
            ("between", Case(.field(\.count, isIn: 1...3), "bread", "call")),
            ("begins with", Case(.field(\.title, beginsWith: "Milk"), "milk", "bread")),
            ("optional begins with", Case(.field(\.subtitle, beginsWith: "a"), "bread", "call")),
            ("list contains", Case(.field(\.tags, contains: "dairy"), "milk")),
            ("list contains, raw", Case(.field(\.colors, contains: .green), "milk", "bread")),
            (
                "list contains, reference",
                Case(.field(\.folders, contains: folderID("kitchen")), "milk")
            ),
            ("list contains any", Case(.field(\.tags, containsAnyOf: ["dairy", "x"]), "milk")),
            ("any begins with", Case(.field(\.tags, anyBeginsWith: "sh"), "milk", "bread")),
            ("any word", Case(.anyWord(of: "loaf litres"), "milk", "bread", "call")),
            ("all words", Case(.allWords(of: "ada loaf"), "call")),
            ("within", Case(.field(\.place, isWithin: 50_000, of: home), "milk", "bread")),
            ("record", Case(.recordID == folderID("milk"), "milk")),
            (
                "records",
                Case(.field(.recordID, isIn: [folderID("milk"), folderID("call")]), "milk", "call")
            ),
            ("created", Case(.creationDate > Date.distantPast, "milk", "bread", "call")),
            ("created, and more", Case(\.count > 3 && .creationDate > Date.distantPast, "milk")),
            ("modified", Case(.modificationDate < Date.distantPast)),
        ]
    }

    /// A way to create a record from a value.
    enum Way: CaseIterable {
        case encoder
        case graph
    }

    @Test(
        "Each comparator finds what it should, whichever way records were saved",
        arguments: CloudFixture.allCases,
        Way.allCases
    )
    func comparators(fixture: CloudFixture, way: Way) async throws {
        try await fixture.run { cloud in
            let database = try await Self.filled(cloud, way)
            let saved = try await Self.all("Note", database)
            for (line, example) in Self.cases() {
                let query = try Memo.query(where: example.predicate)
                let (results, _) = try await database.records(
                    matching: query,
                    inZoneWith: Self.zoneID
                )
                #expect(Set(results.map(\.0.recordName)) == example.names, "\(line)")
                #expect(
                    Set(
                        saved.filter { query.predicate.evaluate(with: $0) }
                            .map(\.recordID.recordName)
                    ) == example.names,
                    "\(line), in memory"
                )
            }
        }
    }

    private static func all(
        _ type: String,
        _ database: CKDatabase
    ) async throws -> [CKRecord] {
        let query = CKQuery(recordType: type, predicate: NSPredicate(value: true))
        return try await database.records(matching: query, inZoneWith: zoneID).matchResults
            .map { try $0.1.get() }
    }

    @Test("Bytes and the models that others refer to are found, by the service and in memory")
    func bytesAndModels() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            let (left, right) = (Drawer(id: "left", title: "L"), Drawer(id: "right", title: "R"))
            let chests = [
                Chest(id: "a", stamp: Data([1, 2]), top: left, spare: right, drawers: [left]),
                Chest(id: "b", stamp: Data(), stamps: [Data([7]), Data("null".utf8)], top: right),
                Chest(
                    id: "c",
                    stamp: Data("null".utf8),
                    stamps: [Data([1])],
                    top: left,
                    drawers: [right]
                ),
            ]
            var known: [CKRecord] = []
            for chest in chests {
                let saved = try await database.save(chest, in: Self.zoneID, onto: known)
                known = Array(Set(known + saved.records))
            }
            let saved = try await Self.all("Chest", database)
            let (leftID, rightID) = (Self.folderID("left"), Self.folderID("right"))
            let cases: [(CloudKitPredicate<Chest>, Set<String>)] = [
                (\.stamp == Data([1, 2]), ["a"]), (\.stamp == Data(), ["b"]),
                (\.stamp == Data("null".utf8), ["c"]), (\.stamp != Data([1, 2]), ["b", "c"]),
                (.field(\.stamp, isIn: [Data([1, 2]), Data()]), ["a", "b"]),
                (.field(\.stamps, contains: Data([7])), ["b"]),
                (.field(\.stamps, containsAnyOf: [Data([1]), Data("null".utf8)]), ["b", "c"]),
                (.field(\.top, isIn: [leftID]), ["a", "c"]),
                (.field(\.top, isIn: [leftID, rightID]), ["a", "b", "c"]),
                (!.field(\.top, isIn: [leftID]), ["b"]), (.field(\.top, isIn: []), []),
                (.field(\.spare, isIn: [rightID]), ["a"]),
                (!.field(\.spare, isIn: [rightID]), ["b", "c"]),
                (.field(\.drawers, containsAnyOf: [leftID, rightID]), ["a", "c"]),
                (.field(\.drawers, containsAnyOf: [CKRecord.ID(recordName: "left")]), []),
            ]
            for (index, (predicate, names)) in cases.enumerated() {
                let query = try Chest.query(where: predicate)
                let (found, _) = try await database.records(
                    matching: query,
                    inZoneWith: Self.zoneID
                )
                #expect(Set(found.map(\.0.recordName)) == names, "case \(index)")
                let held = saved.filter { query.predicate.evaluate(with: $0) }
                #expect(Set(held.map(\.recordID.recordName)) == names, "case \(index), in memory")
            }
        }
    }

    private static func filled(_ cloud: Cloud, _ way: Way = .encoder) async throws -> CKDatabase {
        let database = try await cloud.database(of: try await cloud.addUser())
        try await database.save(CKRecordZone(zoneID: zoneID))
        let drawers = ["kitchen", "bakery"].map { Drawer(id: $0, title: $0) }
        switch way {
        case .encoder:
            let encoder = CloudKitRecordEncoder(zoneID: zoneID)
            let records = try drawers.map { try encoder.encode($0) }
            let notes = try notes.map { try encoder.encode($0) }
            _ = try await database.modifyRecords(saving: records + notes, deleting: [])
        case .graph:
            for drawer in drawers { try await database.save(drawer, in: zoneID) }
            for note in notes { try await database.save(note, in: zoneID) }
        }
        return database
    }

    @Test(
        "Results come in order, with the fields that were asked for",
        arguments: CloudFixture.allCases
    )
    func ordersAndKeys(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await Self.filled(cloud)
            let orders: [([CloudKitSort<Memo>], [String])] = [
                ([.ascending(\.count)], ["call", "bread", "milk"]),
                ([.descending(\.due)], ["call", "bread", "milk"]),
                (
                    [.ascending(.modificationDate), .descending(\.title)],
                    ["bread", "milk", "call"]
                ),
            ]
            for (order, names) in orders {
                let (results, _) = try await database.records(
                    matching: try Memo.query(sort: order),
                    inZoneWith: Self.zoneID,
                    desiredKeys: try Memo.desiredKeys(\.title, \.tags)
                )
                #expect(results.map(\.0.recordName) == names)
                for (_, result) in results {
                    let keys = try result.get().allKeys()
                    #expect(Set(keys).isSubset(of: ["title", "words"]) && keys.contains("title"))
                }
            }
        }
    }
}

@CloudKitRecord
private struct Chest: Identifiable {
    var id: String
    var stamp: Data
    var stamps: [Data] = []
    var top: Drawer
    var spare: Drawer?
    var drawers: [Drawer] = []
}
#endif
