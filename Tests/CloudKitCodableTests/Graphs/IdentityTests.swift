import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Synchronization
import Testing

@Suite("Identity")
struct IdentityTests {
    final class Author: CloudKitModel {
        var name: String
        var books: [Book]?
        var recordName: String { "author-" + name }

        init(name: String) { self.name = name }
    }

    final class Book: CloudKitModel {
        var title: String
        var author: Author?
        var sequel: CloudKitReference<Book>?
        var recordName: String { "book-" + title }

        init(title: String, author: Author?) {
            self.title = title
            self.author = author
        }
    }

    struct Shelf: CloudKitModel {
        var books: [Book]
        var best: Book?
        var recordName: String { "shelf" }
    }

    struct Label: CloudKitModel, Equatable {
        var name: String
        var text: String
        var recordName: String { name }
    }

    struct Labels: CloudKitModel, Equatable {
        var first: Label
        var others: [Label]
        var maybe: Label?
        var recordName: String { "labels" }

        static var fields: CloudKitFields { [CodingKeys.maybe: .reference(.deleteSelf)] }
    }

    let encoder = CloudKitGraphEncoder(zoneID: CKRecordZone.ID(zoneName: "Z"))

    @Test("Two paths to one record are one record, one request and one instance")
    func shared() async throws {
        let author = Author(name: "Ada")
        let books = [Book(title: "1", author: author), Book(title: "2", author: author)]
        books[0].sequel = CloudKitReference(to: books[1])
        let encoded = try encoder.encode(Shelf(books: books, best: books[1]))
        #expect(encoded.records.count == 4)
        let source = MemorySource(encoded.records)
        let shelf = try await source.graph(Shelf.self, for: encoded.rootID).root
        #expect(source.requests == [1, 2, 1])
        #expect(shelf.best === shelf.books[1])
        #expect(shelf.books[0].author === shelf.books[1].author)
        #expect(shelf.books[0].sequel?.recordName == "book-2")
    }

    @Test("A circle of instances encodes; loading it ends, and says how to break it")
    func circle() async throws {
        let author = Author(name: "Ada")
        author.books = [Book(title: "1", author: author)]
        let encoded = try encoder.encode(author)
        #expect(encoded.records.count == 2)
        let source = MemorySource(encoded.records)
        let error = await #expect(throws: CloudKitGraphError.self) {
            _ = try await source.graph(Author.self, for: encoded.rootID)
        }
        #expect(source.requests == [1, 1])
        #expect(error?.code == .cycle)
        #expect(error?.codingPath.map(\.stringValue) == ["books", "Index 0", "author"])
        #expect(error?.description.contains("books[0].author") == true)
        #expect(error?.message.contains("CloudKitReference") == true)
    }

    @Test("Values that differ under one name, or types that share one, are errors")
    func clash() {
        let same = Label(name: "a", text: "1")
        let labels = Labels(first: same, others: [same], maybe: nil)
        #expect(throws: Never.self) { try encoder.encode(labels) }
        for other in [Label(name: "a", text: "2"), Label(name: "labels", text: "")] {
            let error = #expect(throws: CloudKitGraphError.self) {
                try encoder.encode(Labels(first: same, others: [other], maybe: nil))
            }
            #expect(error?.code == .identityClash)
            #expect(error?.codingPath.map(\.stringValue) == ["others", "Index 0"])
        }
    }

    @Test("A missing record is an error with its path, nil or left out, as the caller says")
    func missing() async throws {
        let labels = Labels(
            first: Label(name: "a", text: ""),
            others: [Label(name: "b", text: "")],
            maybe: Label(name: "c", text: "")
        )
        let encoded = try encoder.encode(labels)
        func source(without name: String) -> MemorySource {
            MemorySource(encoded.records.filter { $0.recordID.recordName != name })
        }
        for (name, path) in [("a", ["first"]), ("b", ["others", "Index 0"]), ("c", ["maybe"])] {
            let error = await #expect(throws: CloudKitGraphError.self) {
                try await source(without: name).graph(Labels.self, for: encoded.rootID)
            }
            #expect(error?.code == .missingRecord)
            #expect(error?.recordID?.recordName == name)
            #expect(error?.codingPath.map(\.stringValue) == path)
        }
        let rootless = await #expect(throws: CloudKitGraphError.self) {
            try await source(without: encoded.rootID.recordName)
                .graph(Labels.self, for: encoded.rootID)
        }
        #expect(rootless?.code == .missingRecord && rootless?.codingPath.isEmpty == true)
        #expect(rootless?.message.contains("look at its name and its zone") == true)
        let withoutOthers = try await source(without: "b").graph(
            Labels.self,
            for: encoded.rootID,
            missingRecords: .omit
        )
        #expect(withoutOthers.root.others.isEmpty)
        let withoutMaybe = try await source(without: "c").graph(
            Labels.self,
            for: encoded.rootID,
            missingRecords: .omit
        )
        #expect(withoutMaybe.root.maybe == nil)
        await #expect(throws: CloudKitGraphError.self) {
            try await source(without: "a").graph(
                Labels.self,
                for: encoded.rootID,
                missingRecords: .omit
            )
        }
    }

    @Test("A reference to a record of another type, and a field of another type, name the place")
    func mismatch() throws {
        let labels = Labels(
            first: Label(name: "a", text: ""),
            others: [Label(name: "b", text: "")],
            maybe: nil
        )
        let encoded = try encoder.encode(labels)
        let root = try #require(encoded.records.last)
        root["first"] = CKRecord.Reference(recordID: root.recordID, action: .none)
        func error() -> CloudKitGraphError? {
            #expect(throws: CloudKitGraphError.self) {
                try CloudKitGraphDecoder().decode(
                    Labels.self,
                    from: encoded.records,
                    root: encoded.rootID
                )
            }
        }
        #expect(error()?.code == .unexpectedType)
        root["first"] = "text"
        #expect(error()?.codingPath.map(\.stringValue) == ["first"])
        root["first"] = CKRecord.Reference(
            recordID: encoded.records[0].recordID,
            action: .none
        )
        encoded.records[1]["text"] = 5
        let inner = error()
        #expect(inner?.recordType == "Label")
        #expect(inner?.recordID?.recordName == "b")
        #expect(inner?.codingPath.map(\.stringValue) == ["others", "Index 0", "text"])
        #expect(inner?.message.contains("INT64") == true)
    }

    struct Link: CloudKitModel {
        var number: Int
        var next: [Link]
        var recordName: String { "link-\(number)" }
    }

    @Test("A chain that is too deep is an error, not the end of the process")
    func deep() {
        var link = Link(number: 0, next: [])
        for number in 1...1000 { link = Link(number: number, next: [link]) }
        let error = #expect(throws: CloudKitGraphError.self) { try encoder.encode(link) }
        #expect(error?.code == .tooDeep)
    }

    @Test("A cancelled task, or a cancelled progress, ends the loading")
    func cancellation() async throws {
        let encoded = try encoder.encode(Atlas.sample())
        let source = MemorySource(encoded.records)
        let progress = Progress(totalUnitCount: 0)
        progress.cancel()
        await #expect(throws: CancellationError.self) {
            _ = try await source.graph(Atlas.self, for: encoded.rootID, progress: progress)
        }
        #expect(source.requests.isEmpty)
    }
}
