import CloudKit
import CloudKitCodable
import CloudKitFiles
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Files that are handed out")
struct FileTests {
    struct Portrait: CloudKitModel, Equatable {
        var image: URL?
        var recordName: String { "portrait" }
    }

    struct Gallery: CloudKitModel {
        var portrait: Portrait
        var images: [URL]
        var recordName: String { "gallery" }
    }

    /// A model whose field is declared as a file.
    struct Invoice: CloudKitModel {
        var number: String
        var pdf: URL?
        var recordName: String { number }
        static var fields: CloudKitFields { [CodingKeys.pdf: .asset] }
    }

    @Test("A file's address that says to be an asset is one, and another address is refused")
    func said() throws {
        let file = try Self.file("scan")
        defer { try? FileManager.default.removeItem(at: file) }
        let record = try CloudKitRecordEncoder().encode(Invoice(number: "7", pdf: file))
        #expect(record.object(forKey: "pdf") is CKAsset)
        let read = try CloudKitRecordDecoder().decode(Invoice.self, from: record)
        #expect(try Data(contentsOf: #require(read.pdf)) == Data("scan".utf8))
        let page = URL(string: "https://example.com/7")
        let error = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(Invoice(number: "9", pdf: page))
        }
        #expect(error.map { "\($0)" }?.contains("leave .asset out") == true)
        let empty = try CloudKitRecordEncoder().encode(Invoice(number: "8"))
        #expect(try CloudKitRecordDecoder().decode(Invoice.self, from: empty).pdf == nil)
    }

    private static func file(_ text: String) throws -> URL {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "portrait-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        return file
    }

    private static func permissions(_ url: URL) throws -> Int {
        let facts = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(facts[.posixPermissions] as? NSNumber).intValue
    }

    @Test(
        "A decoding's file stays when its record is gone, nobody else can read it, and it saves again",
        arguments: CloudFixture.allCases
    )
    func lasting(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user)
            let zone = try await database.save(CKRecordZone(zoneName: "Files"))
            let files = try ["one", "two", "three"].map(Self.file)
            defer { for file in files { try? FileManager.default.removeItem(at: file) } }
            let gallery = Gallery(
                portrait: Portrait(image: files[0]),
                images: Array(files[1...])
            )
            let galleryID = try await database.save(gallery, in: zone.zoneID).rootID
            let portraitID = CKRecord.ID(recordName: "portrait", zoneID: zone.zoneID)

            // Nothing references the record or its asset after this line.
            let image = try #require(
                try CloudKitRecordDecoder().decode(
                    Portrait.self,
                    from: try await database.record(for: portraitID)
                ).image
            )
            #expect(try Data(contentsOf: image) == Data("one".utf8))
            #expect(try Self.permissions(image) == 0o600)
            let folder = image.deletingLastPathComponent()
            #expect(try Self.permissions(folder) == 0o700)
            #expect(folder.path == (try PrivateFiles.shared.folder().path))

            let loaded = try await database.graph(Gallery.self, for: galleryID).root
            #expect(try Data(contentsOf: try #require(loaded.portrait.image)) == Data("one".utf8))
            #expect(try loaded.images.map { try Data(contentsOf: $0) }.count == 2)

            // Saved again as a value without its records.
            let other = try await database.save(CKRecordZone(zoneName: "Copies"))
            let copyID = try await database.save(loaded, in: other.zoneID).rootID
            let copy = try await database.graph(Gallery.self, for: copyID).root
            #expect(
                try copy.images.map { try String(contentsOf: $0, encoding: .utf8) }
                    == ["two", "three"]
            )
        }
    }

    @Test("A file that is written again at its place is sent, and one that is not stays unsent")
    func rewritten() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        let zoneID = try await database.save(CKRecordZone(zoneName: "Files")).zoneID
        let file = try Self.file("draft")
        defer { try? FileManager.default.removeItem(at: file) }
        var graph = try await database.save(Portrait(image: file), in: zoneID)
        func unsent() throws -> Bool {
            try CloudKitGraphEncoder(zoneID: zoneID).encode(graph.root, onto: graph.records)
                .changed.isEmpty
        }
        func text() async throws -> String {
            let loaded = try await database.graph(Portrait.self, for: graph.rootID).root
            return try String(contentsOf: try #require(loaded.image), encoding: .utf8)
        }
        #expect(try unsent())
        try Data("final version".utf8).write(to: file)
        try await database.save(&graph)
        #expect(try await text() == "final version")

        graph = try await database.graph(Portrait.self, for: graph.rootID)
        #expect(try unsent())
        let handedOut = try #require(graph.root.image)
        try Data("written where it was handed out".utf8).write(to: handedOut)
        let record = try #require(graph.records.first)
        try CloudKitRecordEncoder(zoneID: zoneID).encode(graph.root, onto: record)
        #expect(record.changedKeys() == ["image"])
        try await database.save(graph.root, in: zoneID, onto: graph.records)
        #expect(try await text() == "written where it was handed out")
    }

    @Test("A file whose place nobody asked for goes with its asset")
    func unasked() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        let file = try Self.file("unasked for \(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let record = CKRecord(recordType: "Any")
        record["file"] = CKAsset(fileURL: file)
        try await database.save(record)
        let before = try Self.contents()
        var fetched: CKRecord? = try await database.record(for: record.recordID)
        #expect(try Self.contents().subtracting(before).count >= 1)
        #expect(fetched?["file"] is CKAsset)
        let bytes = try Data(contentsOf: file)
        fetched = nil
        let left = try Self.contents().subtracting(before).filter { name in
            let place = try? PrivateFiles.shared.folder().appending(path: name)
            return place.flatMap { try? Data(contentsOf: $0) } == bytes
        }
        #expect(left.isEmpty)
    }

    private static func contents() throws -> Set<String> {
        Set(
            try FileManager.default.contentsOfDirectory(
                atPath: try PrivateFiles.shared.folder().path
            )
        )
    }

    @Test("The files of values that are stored beside records are private, too")
    func encoded() throws {
        struct Scanned: CloudKitModel {
            var scan = Data([1, 2])
            var recordName: String { "scanned" }
            static var fields: CloudKitFields { [CodingKeys.scan: .asset] }
        }
        let record = try CloudKitRecordEncoder().encode(Scanned())
        let file = try #require((record["scan"] as? CKAsset)?.fileURL)
        #expect(file.path.hasPrefix(try PrivateFiles.shared.folder().path + "/"))
        #expect(try Self.permissions(file) == 0o600)
    }
}
