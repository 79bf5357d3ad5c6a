import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("What a save says is gone")
struct RemovalTests {
    let zoneID = CKRecordZone.ID(zoneName: "World")

    private func run(
        _ fixture: CloudFixture,
        _ body: @escaping @Sendable (CKDatabase) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: zoneID))
            try await body(database)
        }
    }

    /// Saves a value, edits it, saves it again, and returns the loaded value.
    private func edited<Root: CloudKitModel>(
        _ value: Root,
        _ database: CKDatabase,
        isLoaded: Bool,
        _ edit: (inout Root) -> Void
    ) async throws -> (edited: Root, loaded: CloudKitGraph<Root>) {
        var graph = try await database.save(value, in: zoneID)
        if isLoaded { graph = try await database.graph(Root.self, for: graph.rootID) }
        edit(&graph.root)
        try await database.save(&graph)
        // The sent records are the known ones: saving again sends nothing.
        let encoded = try CloudKitGraphEncoder(zoneID: zoneID)
            .encode(graph.root, onto: graph.records)
        #expect(encoded.changed.isEmpty)
        return (graph.root, try await database.graph(Root.self, for: graph.rootID))
    }

    // MARK: Children

    @Test(
        "A child that leaves its list is gone from it, and its record stays",
        arguments: CloudFixture.allCases,
        [true, false]
    )
    func removedChild(fixture: CloudFixture, isLoaded: Bool) async throws {
        try await run(fixture) { database in
            let photos = (0..<3).map { Photo(id: "photo\($0)") }
            let album = Album(id: "album", title: "Summer", photos: photos)
            let (edited, loaded) = try await edited(album, database, isLoaded: isLoaded) {
                $0.photos.remove(at: 1)
            }
            #expect(loaded.root == edited)
            #expect(loaded.root.photos.map(\.id) == ["photo0", "photo2"])
            #expect(loaded.records.count == 3)
            let gone = try await database.record(
                for: CKRecord.ID(recordName: "photo1", zoneID: zoneID)
            )
            #expect(gone.allKeys() == ["id"])
            #expect(gone.parent == nil)
        }
    }

    @Test("A child that leaves its list is deleted when orphans are")
    func deletedChild() async throws {
        try await run(.inProcess) { database in
            let album = Album(
                id: "album",
                title: "",
                photos: [Photo(id: "photo0"), Photo(id: "photo1")]
            )
            var graph = try await database.save(album, in: zoneID)
            graph.root.photos.removeFirst()
            try await database.save(&graph, deletingOrphans: true)
            let gone = CKRecord.ID(recordName: "photo0", zoneID: zoneID)
            let error = await #expect(throws: CKError.self) {
                try await database.record(for: gone)
            }
            #expect(error?.code == .unknownItem)
            #expect(try await database.graph(Album.self, for: graph.rootID).root == graph.root)
        }
    }

    struct Pin: CloudKitModel, Equatable {
        var id: String
        var label: LoadingTests.Label?
        var recordName: String { id }
    }

    @Test("An orphan that is deleted is missing from another graph until that is saved without it")
    func sharedOrphan() async throws {
        try await run(.inProcess) { database in
            let label = LoadingTests.Label(name: "shared")
            var one = try await database.save(Pin(id: "one", label: label), in: zoneID)
            var two = try await database.save(
                Pin(id: "two", label: label),
                in: zoneID,
                onto: one.records.filter { $0.recordType == "Label" }
            )
            one.root.label = nil
            try await database.save(&one, deletingOrphans: true)
            let error = await #expect(throws: CloudKitGraphError.self) {
                try await database.graph(Pin.self, for: two.rootID)
            }
            #expect(error?.code == .missingRecord && error?.recordID?.recordName == "label-shared")
            two.root.label = nil
            try await database.save(&two)
            #expect(try await database.graph(Pin.self, for: two.rootID).root == two.root)
        }
    }

    struct Stage: CloudKitModel, Equatable {
        var id: String
        var star: LoadingTests.Label?
        var cast: [LoadingTests.Label]?
        var crew: [LoadingTests.Leaf] = []
        var owned: LoadingTests.Label?
        var recordName: String { id }

        static var fields: CloudKitFields {
            [
                CodingKeys.star: .children(via: "starOf", isHierarchy: true),
                CodingKeys.cast: .children(via: "castOf"),
                CodingKeys.crew: .children(via: "castOf"),
                CodingKeys.owned: .reference(.none, isHierarchy: true),
            ]
        }
    }

    @Test(
        "What is replaced in a property of one model, or made nil, is gone",
        arguments: CloudFixture.allCases
    )
    func replaced(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let names = ["a", "b", "c"].map { LoadingTests.Label(name: $0) }
            let stage = Stage(
                id: "stage",
                star: names[0],
                cast: [names[1]],
                crew: [.init(id: "crew")],
                owned: names[2]
            )
            let other = LoadingTests.Label(name: "new")
            let (edited, loaded) = try await edited(stage, database, isLoaded: true) {
                $0.star = other
                $0.cast = nil
                $0.owned = nil
            }
            #expect(loaded.root == edited)
            #expect(loaded.root.crew.count == 1)
            for name in ["label-a", "label-b", "label-c"] {
                let recordID = CKRecord.ID(recordName: name, zoneID: zoneID)
                let record = try await database.record(for: recordID)
                #expect(record.allKeys() == ["name"] && record.parent == nil)
            }
            // And back again, which is a move from one property to another.
            var graph = loaded
            graph.root.star = nil
            graph.root.cast = [other, names[0]]
            try await database.save(&graph, savePolicy: .changedKeys)
            #expect(try await database.graph(Stage.self, for: graph.rootID).root == graph.root)
        }
    }

    struct Drawer: CloudKitModel, Equatable {
        var id: String
        var labels: [LoadingTests.Label]
        var recordName: String { id }

        static var fields: CloudKitFields {
            [CodingKeys.labels: .children(via: "drawer", .deleteSelf, isHierarchy: true)]
        }
    }

    struct Desk: CloudKitModel, Equatable {
        var drawers: [Drawer]
        var recordName: String { "desk" }

        static var fields: CloudKitFields { [CodingKeys.drawers: .children(via: "desk")] }
    }

    @Test(
        "A child moves from one list of a graph to another, and within one",
        arguments: CloudFixture.allCases
    )
    func move(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let desk = Desk(
                drawers: ["x", "y"].map { drawer in
                    Drawer(id: drawer, labels: (0..<4).map { .init(name: "\(drawer)\($0)") })
                }
            )
            let (edited, loaded) = try await edited(desk, database, isLoaded: true) { desk in
                desk.drawers[1].labels.insert(desk.drawers[0].labels.remove(at: 2), at: 1)
                desk.drawers[0].labels.swapAt(0, 2)
            }
            #expect(loaded.root == edited)
            let moved = loaded.records.first { $0.recordID.recordName == "label-x2" }
            #expect(moved?.parent?.recordID.recordName == "y")
        }
    }

    @Test("Of a list that changes, only the children that came, went or moved are sent")
    func fewRecords() async throws {
        let cloud = try await TestCloud()
        let database = try await cloud.device(of: try await cloud.addUser("Ada"))
            .privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        var album = Album(id: "album", title: "", photos: (0..<9).map { Photo(id: "photo\($0)") })
        let known = try await database.save(album, in: zoneID).records
        album.photos.removeFirst()
        album.photos.insert(Photo(id: "first"), at: 0)
        album.photos.insert(Photo(id: "middle"), at: 4)
        album.photos.append(Photo(id: "last"))
        album.photos.append(album.photos.remove(at: 2))
        let graph = try CloudKitGraphEncoder(zoneID: zoneID).encode(album, onto: known)
        let positions = graph.records.dropFirst().map { $0["album_position"] as Int? ?? .min }
        #expect(positions == positions.sorted())
        let sent = graph.changed.map(\.recordID.recordName).sorted()
        #expect(sent == ["first", "last", "middle", "photo0", "photo2"])
    }

    @Test("A child twice in one list is an error that names it, not one child")
    func twice() {
        let photo = Photo(id: "photo")
        let error = #expect(throws: CloudKitGraphError.self) {
            try CloudKitGraphEncoder(zoneID: zoneID)
                .encode(Album(id: "album", title: "", photos: [photo, photo]))
        }
        #expect(error?.code == .identityClash)
        #expect(error?.recordID?.recordName == "photo")
        #expect(error?.codingPath.map(\.stringValue) == ["photos", "Index 1"])
    }

    // MARK: Two graphs

    @Test(
        "A child moves between two graphs with what the other knew of it",
        arguments: CloudFixture.allCases,
        [true, false]
    )
    func moveBetweenGraphs(fixture: CloudFixture, newFirst: Bool) async throws {
        try await run(fixture) { database in
            let photos = (0..<3).map { Photo(id: "photo\($0)") }
            let one = Album(id: "one", title: "1", photos: photos)
            let two = Album(id: "two", title: "2", photos: [Photo(id: "other")])
            let oneID = try await database.save(one, in: zoneID).rootID
            let twoID = try await database.save(two, in: zoneID).rootID
            var old = try await database.graph(Album.self, for: oneID)
            var new = try await database.graph(Album.self, for: twoID)
            new.root.photos.append(old.root.photos.remove(at: 1))
            if newFirst {
                // Without the records of the other graph, the server reports that it already has the
                // record.
                let before = new
                let error = await #expect(throws: CKError.self) { try await database.save(&new) }
                #expect(error?.code == .serverRecordChanged)
                #expect(error?.serverRecord?.recordID.recordName == "photo1")
                let text = error?.localizedDescription ?? ""
                #expect(text.contains("photo1") && text.contains("takeRecords(from:)"))
                new = before
            }
            try new.takeRecords(from: &old)
            if newFirst {
                try await database.save(&new)
                try await database.save(&old)
            } else {
                try await database.save(&old)
                try await database.save(&new)
            }
            let first = try await database.graph(Album.self, for: oneID)
            let second = try await database.graph(Album.self, for: twoID)
            #expect(first.root.photos.map(\.id) == ["photo0", "photo2"])
            #expect(second.root.photos.map(\.id) == ["other", "photo1"])
            let moved = second.records.first { $0.recordID.recordName == "photo1" }
            #expect(moved?.parent?.recordID == twoID)
        }
    }

    // MARK: Fields

    @Test(
        "What a value writes no more is cleared, and fields of other versions stay",
        arguments: CloudFixture.allCases,
        [true, false]
    )
    func unwritten(fixture: CloudFixture, isLoaded: Bool) async throws {
        try await run(fixture) { database in
            var graph = try await database.save(Suitcase.full, in: zoneID)
            let newer = try await database.record(for: graph.rootID)
            newer["colour"] = "red"
            newer.encryptedValues["pin"] = "0000"
            try await database.save(newer)
            graph = try await database.graph(Suitcase.self, for: graph.rootID)
            #expect(graph.root == .full)
            if isLoaded {
                graph.root = Suitcase()
                try await database.save(&graph)
            } else {
                // Nothing of the type was decoded for this, but the keys are its own.
                try await database.save(Suitcase(), in: zoneID, onto: graph.records)
            }
            let loaded = try await database.graph(Suitcase.self, for: graph.rootID)
            #expect(loaded.root == Suitcase())
            let record = try #require(loaded.records.first)
            #expect(record.allKeys() == ["colour"])
            #expect(record.encryptedValues.allKeys() == ["pin"])
        }
    }

    @Test(
        "An enumeration that changes its case has the fields of the new one alone",
        arguments: [true, false]
    )
    func cases(isLoaded: Bool) async throws {
        try await run(.overHTTP) { database in
            let train = Travel.train(number: 7, seat: "3a")
            let (_, travel) = try await edited(train, database, isLoaded: isLoaded) {
                $0 = .car(plate: "W-1")
            }
            #expect(travel.root == .car(plate: "W-1"))
            #expect(travel.records.first?.allKeys() == ["kind", "plate"])

            let (_, choice) = try await edited(Choice.number(1), database, isLoaded: isLoaded) {
                $0 = .text("one")
            }
            #expect(choice.root == .text("one"))
            #expect(choice.records.first?.allKeys() == ["text"])
        }
    }

    @Test("Keys that a type takes as they come are its own once it asked for them")
    func openKeys() async throws {
        try await run(.inProcess) { database in
            let bag = Bag(["n1": 1, "n2": 2])
            var graph = try await database.save(bag, in: zoneID)
            let newer = try await database.record(for: graph.rootID)
            (newer["colour"], newer["n5"]) = ("red", 5)
            try await database.save(newer)
            graph = try await database.graph(Bag.self, for: graph.rootID)
            #expect(graph.root == Bag(["n1": 1, "n2": 2, "n5": 5]))
            // This process wrote the one, and only read the other.
            (graph.root.values["n1"], graph.root.values["n5"]) = (nil, nil)
            try await database.save(&graph)
            let loaded = try await database.graph(Bag.self, for: graph.rootID)
            #expect(loaded.root == Bag(["n2": 2]))
            #expect(loaded.records.first?["colour"] == "red")
        }
    }

    @Test("Keys that a type takes as they come are its own once a graph wrote them")
    func writtenKeys() async throws {
        /// A type that this process never reads.
        struct Unread: CloudKitModel {
            var bag: Bag
            var recordName: String { "unread" }
            static var fields: CloudKitFields { [Bag.Key("n3"): .encrypted] }
            init(_ values: [String: Int]) { bag = Bag(values) }
            init(from decoder: any Decoder) throws { throw CancellationError() }
            func encode(to encoder: any Encoder) throws { try bag.encode(to: encoder) }
        }
        try await run(.inProcess) { database in
            let first = Unread(["n1": 1, "n2": 2, "n3": 3])
            var graph = try await database.save(first, in: zoneID)
            let newer = try await database.record(for: graph.rootID)
            newer["colour"] = "red"
            graph = CloudKitGraph(
                root: Unread(["n2": 2, "n4": 4]),
                rootID: graph.rootID,
                records: [try await database.save(newer)]
            )
            try await database.save(&graph)
            graph.root.bag.values["n4"] = nil
            try await database.save(&graph)
            let record = try await database.record(for: graph.rootID)
            #expect(record.allKeys().sorted() == ["colour", "n2"])
            #expect(record.encryptedValues.allKeys().isEmpty)
        }
    }

    @Test("A value with its system fields alone clears the keys that its type lists")
    func systemFields() async throws {
        try await run(.overHTTP) { database in
            let encoder = CloudKitRecordEncoder(zoneID: zoneID)
            let record = try encoder.encode(Ticket(seat: "3a", note: "window"))
            record["colour"] = "red"
            let saved = try await database.save(record)
            var ticket = try CloudKitRecordDecoder().decode(Ticket.self, from: saved)
            ticket.note = nil
            try await database.save(try encoder.encode(ticket))
            let loaded = try await database.record(for: saved.recordID)
            #expect(loaded["seat"] == "3a" && loaded["colour"] == "red")
            #expect(loaded["note"] as String? == nil)
        }
    }

    @Test("A child that is saved by itself stays in the list of its owner")
    func alone() async throws {
        try await run(.inProcess) { database in
            let page = Page(id: "page", text: "1")
            let rootID = try await database.save(Book(id: "book", pages: [page]), in: zoneID).rootID
            var loaded = try await database.graph(Book.self, for: rootID)
            #expect(loaded.root.pages[0].book?.recordName == "book")
            let pageID = CKRecord.ID(recordName: "page", zoneID: zoneID)
            var graph = try await database.graph(Page.self, for: pageID)
            graph.root.text = "2"
            try await database.save(&graph)
            loaded = try await database.graph(Book.self, for: rootID)
            #expect(loaded.root.pages.map(\.text) == ["2"])
        }
    }

    /// A model that reads the reference to its owner, which the owner writes.
    struct Page: CloudKitModel, Equatable {
        var id: String
        var text: String
        var book: CloudKitReference<Book>?
        var recordName: String { id }

        enum CodingKeys: CodingKey { case id, text, book }

        init(id: String, text: String) {
            self.id = id
            self.text = text
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(text, forKey: .text)
        }
    }

    struct Book: CloudKitModel, Equatable {
        var id: String
        var pages: [Page]
        var recordName: String { id }

        static var fields: CloudKitFields { [CodingKeys.pages: .children(via: "book")] }
    }

    // MARK: Lists of thousands

    @Test("A list of more than 750 children is saved, loaded and deleted as it is declared")
    func thousand() async throws {
        try await run(.overHTTP) { database in
            let album = Album(
                id: "album",
                title: "Many",
                photos: (0..<1000).map { Photo(id: "photo\($0)") }
            )
            let (edited, loaded) = try await edited(album, database, isLoaded: false) {
                $0.photos.removeFirst(10)
                $0.photos.append(Photo(id: "last"))
            }
            #expect(loaded.root == edited)
            try await database.delete(loaded)
            let some = loaded.records.shuffled().prefix(300).map(\.recordID)
            let results = try await database.records(for: some)
            #expect(results.count == 300 && results.values.allSatisfy { (try? $0.get()) == nil })
        }
    }
}
