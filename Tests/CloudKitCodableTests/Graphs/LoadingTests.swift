import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Synchronization
import Testing

@Suite("Loading graphs")
struct LoadingTests {
    let zoneID = CKRecordZone.ID(zoneName: "World")

    private func source(_ value: some CloudKitModel) throws -> (MemorySource, CKRecord.ID) {
        let encoded = try CloudKitGraphEncoder(zoneID: zoneID).encode(value)
        return (MemorySource(encoded.records), encoded.rootID)
    }

    @Test(
        "Types that take no invented value come back with everything that is behind them",
        arguments: CloudFixture.allCases
    )
    func realValues(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: zoneID))
            let magazine = Magazine.sample()
            let rootID = try await database.save(magazine, in: zoneID).rootID
            let graph = try await database.graph(Magazine.self, for: rootID)
            #expect(graph.root == magazine)
            #expect(graph.records.count == 1 + 3 + 6)
        }
    }

    @Test("References that a value only holds are not followed, whatever stands before them")
    func lazyReferences() async throws {
        let articles = Magazine.sample(articles: 20).articles
        var magazine = Magazine.sample(articles: 0)
        magazine.archive = articles.map { CloudKitReference(to: $0) }
        let encoder = CloudKitGraphEncoder(zoneID: zoneID)
        let records = try articles.flatMap { try encoder.encode($0).records }
        let encoded = try encoder.encode(magazine)
        let source = MemorySource(records + encoded.records)
        let graph = try await source.graph(Magazine.self, for: encoded.rootID)
        #expect(graph.root == magazine)
        #expect(graph.records.map(\.recordID) == [encoded.rootID])
        // The root, and the query for its articles.
        #expect(source.requests == [1, 1])
    }

    // MARK: Code that catches

    /// A model that requests its models in ways that hide missing ones.
    struct Careless<User>: CloudKitModel, Equatable {
        var first: Label?
        var second: Label
        var labels: [Label]
        var recordName: String { "careless" }

        static var recordType: String { "Careless" }

        enum CodingKeys: String, CodingKey { case one = "a", two = "b", many = "c" }

        static var fields: CloudKitFields { [CodingKeys.many: .children(via: "careless")] }

        init() {
            first = Label(name: "1")
            second = Label(name: "2")
            labels = [Label(name: "3"), Label(name: "4")]
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            do {
                labels = try container.decode([Label].self, forKey: .many)
            } catch {
                labels = []
            }
            first = try? container.decode(Label.self, forKey: .one)
            // Only the first may be missing: nothing else shows that it was not loaded yet.
            second =
                try first.map { _ in try container.decode(Label.self, forKey: .two) }
                ?? Label(name: "2")
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(first, forKey: .one)
            try container.encode(second, forKey: .two)
            try container.encode(labels, forKey: .many)
        }
    }

    struct Label: CloudKitModel, Equatable {
        var name: String
        var recordName: String { "label-" + name }
    }

    @Test("What a value asks for and goes on without is fetched all the same")
    func swallowed() async throws {
        let (source, rootID) = try source(Careless<Writer>())
        let graph = try await source.graph(Careless<Reader>.self, for: rootID)
        #expect(graph.root == Careless<Reader>())
        #expect(graph.records.count == 5)
        // The value's own code decides about a missing record.
        let records = graph.records
        let without = MemorySource(records.filter { $0.recordID.recordName != "label-1" })
        #expect(try await without.graph(Careless<Reader>.self, for: rootID).root.first == nil)
    }

    /// A model that throws its own error for anything missing.
    struct Strict<User>: CloudKitModel, Equatable {
        var label = Label(name: "strict")
        var recordName: String { "strict" }

        static var recordType: String { "Strict" }

        enum CodingKeys: String, CodingKey { case label = "l" }

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard let label = try? container.decode(Label.self, forKey: .label) else {
                throw Nothing()
            }
            self.label = label
        }
    }

    struct Nothing: Error {}

    @Test("An error of the value's own counts when nothing more can be fetched")
    func ownError() async throws {
        let (source, rootID) = try source(Strict<Writer>())
        let graph = try await source.graph(Strict<Reader>.self, for: rootID)
        #expect(graph.root == Strict<Reader>())
        let broken = MemorySource(graph.records.filter { $0.recordType == "Strict" })
        let error = await #expect(throws: CloudKitGraphError.self) {
            try await broken.graph(Strict<Reader>.self, for: rootID)
        }
        #expect(error?.code == .notDecodable && error?.recordType == "Strict")
        #expect(error?.underlyingError is Nothing)
    }

    /// A model that checks for children before it reads them.
    struct Looking: CloudKitModel, Equatable {
        var labels: [Label]
        var recordName: String { "looking" }

        enum CodingKeys: CodingKey { case labels }

        static var fields: CloudKitFields { [CodingKeys.labels: .children(via: "looking")] }

        init(_ names: [String]) { labels = names.map { Label(name: $0) } }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let isThere = container.contains(.labels) && container.allKeys == [.labels]
            labels = isThere ? try container.decode([Label].self, forKey: .labels) : []
        }
    }

    @Test("Whether there are children is known when they were asked for")
    func looking() async throws {
        for names in [[], ["x", "y"]] {
            let (source, rootID) = try source(Looking(names))
            let graph = try await source.graph(Looking.self, for: rootID)
            #expect(graph.root == Looking(names))
        }
    }

    // MARK: Errors

    @Test("A record deep inside that does not fit is an error with record, type, field and path")
    func misfit() async throws {
        let encoded = try CloudKitGraphEncoder(zoneID: zoneID).encode(Magazine.sample())
        let record = try #require(
            encoded.records.first { $0.recordID.recordName == "footnote1-1" }
        )
        for value in ["1st", nil] as [String?] {
            record["word"] = value
            let source = MemorySource(encoded.records)
            let error = await #expect(throws: CloudKitGraphError.self) {
                try await source.graph(Magazine.self, for: encoded.rootID)
            }
            #expect(error?.code == .notDecodable)
            #expect(error?.recordType == "Footnote" && error?.recordID == record.recordID)
            #expect(error?.description.contains("articles[1].footnotes[1]") == true)
            let hasField = error?.codingPath.last?.stringValue == "word"
            #expect(hasField)
        }
    }

    // MARK: Requests

    struct Leaf: CloudKitModel, Equatable {
        var id: String
        var recordName: String { id }
    }

    /// A level of a graph: one model, a list of models, and children that refer to it.
    struct Level<Next: CloudKitModel & Equatable, Number: Numbered>: CloudKitModel, Equatable {
        var id: String
        var one: Next
        var many: [Next]
        var kids: [Next]
        var recordName: String { id }

        static var recordType: String { "Level\(Number.number)" }
        static var fields: CloudKitFields { [CodingKeys.kids: .children(via: "owner")] }

        enum CodingKeys: CodingKey { case id, one, many, kids }

        init(_ id: String, _ next: (String) -> Next) {
            self.id = id
            one = next(id + "o")
            many = [next(id + "m"), next(id + "n")]
            kids = [next(id + "k"), next(id + "l")]
        }
    }

    protocol Numbered { static var number: Int { get } }
    enum N1: Numbered { static let number = 1 }
    enum N2: Numbered { static let number = 2 }
    enum N3: Numbered { static let number = 3 }
    enum N4: Numbered { static let number = 4 }
    enum N5: Numbered { static let number = 5 }

    typealias L5 = Level<Leaf, N5>
    typealias L4 = Level<L5, N4>
    typealias L3 = Level<L4, N3>
    typealias L2 = Level<L3, N2>
    typealias L1 = Level<L2, N1>

    static var deep: L1 {
        L1("r") { L2($0) { L3($0) { L4($0) { L5($0) { Leaf(id: $0) } } } } }
    }

    @Test("A graph of six levels with three kinds of relations takes at most twelve requests")
    func depth() async throws {
        let deep = Self.deep
        let (source, rootID) = try source(deep)
        let graph = try await source.graph(L1.self, for: rootID)
        #expect(graph.root == deep)
        #expect(graph.records.count == 3906)
        // One for the root; one for the references and one for the children of each level; those with
        // more than 400 references are split.
        #expect(source.rounds <= 12)
        print("requests for a graph of depth 6: \(source.requests)")
    }

    /// A user of a type: properties learned by encoding are unknown to a type that was only decoded.
    enum Writer {}
    enum Reader {}

    /// A model whose keys reveal nothing about its stored properties.
    struct Hidden<User>: CloudKitModel, Equatable {
        var name: String
        var left: [Label]
        var right: [Label]
        var recordName: String { "hidden-" + name }

        static var recordType: String { "Hidden" }

        enum CodingKeys: String, CodingKey { case name, left = "l", right = "r" }

        static var fields: CloudKitFields { [CodingKeys.right: .children(via: "hidden")] }
    }

    struct Shelf<User>: CloudKitModel, Equatable {
        var hidden: [Hidden<User>]
        var recordName: String { "shelf" }

        static var recordType: String { "Shelf" }

        enum CodingKeys: String, CodingKey { case hidden = "h" }

        init() {
            hidden = (0..<10).map { number in
                Hidden(
                    name: "\(number)",
                    left: [Label(name: "l\(number)")],
                    right: [Label(name: "r\(number)")]
                )
            }
        }
    }

    @Test("What the types do not show beforehand is learned from the first load")
    func learned() async throws {
        let encoded = try CloudKitGraphEncoder(zoneID: zoneID).encode(Shelf<Writer>())
        var requests: [[Int]] = []
        for _ in 0..<2 {
            let source = MemorySource(encoded.records)
            let graph = try await source.graph(Shelf<Reader>.self, for: encoded.rootID)
            #expect(graph.root == Shelf<Reader>())
            requests.append(source.requests)
        }
        // Each kind of relation of a level is one request for all its values, from the start.
        #expect(requests == [[1, 10, 10, 10], [1, 10, 10, 10]])
    }

    // MARK: Time

    /// A model that counts its decodings, and needs a record that no stored property reveals.
    struct Counted: CloudKitModel {
        static let decodings = Mutex(0)

        var id: String
        var label: Label
        var recordName: String { id }

        enum CodingKeys: String, CodingKey { case id, label = "x" }

        init(_ number: Int) {
            id = "counted\(number)"
            label = Label(name: "\(number)")
        }

        init(from decoder: any Decoder) throws {
            Self.decodings.withLock { $0 += 1 }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            label = try container.decode(Label.self, forKey: .label)
        }
    }

    struct Crowd: CloudKitModel {
        var members: [Counted]
        var again: [Counted]
        var recordName: String { "crowd" }

        enum CodingKeys: CodingKey { case members, again }

        static var fields: CloudKitFields { [CodingKeys.members: .children(via: "crowd")] }
    }

    @Test("Thousands of children are decoded a few times each, not once for each other")
    func linear() async throws {
        let members = (0..<4000).map { Counted($0) }
        let (source, rootID) = try source(Crowd(members: members, again: members))
        Counted.decodings.withLock { $0 = 0 }
        let graph = try await source.graph(Crowd.self, for: rootID)
        #expect(graph.root.members.map(\.id) == members.map(\.id))
        #expect(graph.root.again.map(\.label) == members.map(\.label))
        #expect(Counted.decodings.withLock { $0 } <= 2 * 4000)
    }

    // MARK: What is known afterwards

    /// A model that reads its models only on request.
    struct Choosing: CloudKitModel {
        var isFull: Bool
        var labels: [Label]
        var recordName: String { "choosing" }

        init(isFull: Bool) {
            self.isFull = isFull
            labels = [Label(name: "a"), Label(name: "b")]
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            isFull = try container.decode(Bool.self, forKey: .isFull)
            labels = isFull ? try container.decode([Label].self, forKey: .labels) : []
        }
    }

    @Test("A graph knows the records that are in its value, and no others to delete as orphans")
    func known() async throws {
        for isFull in [true, false] {
            let (source, rootID) = try source(Choosing(isFull: isFull))
            let graph = try await source.graph(Choosing.self, for: rootID)
            #expect(graph.records.count == (isFull ? 3 : 1))
            #expect(graph.records.first?.recordID == rootID)
        }
    }

    @Test(
        "A list of children of a type of which no record was ever saved is empty",
        arguments: CloudFixture.allCases
    )
    func noChildren(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: zoneID))
            let album = Album(id: "album", title: "Empty", photos: [])
            let rootID = try await database.save(album, in: zoneID).rootID
            #expect(try await database.graph(Album.self, for: rootID).root == album)
        }
    }
}
