import CloudKit
import CloudKitCodable
import CloudKitCoreData
import CloudKitStore
import Foundation
import Support
import Testing

@Suite("Records of Core Data as values and as graphs", .timeLimit(.minutes(5)))
struct CoreDataMapperTests {
    private struct Post: Codable, Equatable {
        var title: String?
        var body: String?
        var key: UUID?
        var link: URL?
        var price: Decimal?
        var done = false
        var due: Date?
        var rating: Double?
        var count = 0
        var image: Data?
        var secret: String?
        var mood: String?
        var blog: String?
    }

    private static let full = Post(
        title: "Milk",
        key: UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
        link: URL(string: "https://a.b/c"),
        price: Decimal(string: "10.11"),
        done: true,
        due: Date(timeIntervalSinceReferenceDate: 0),
        rating: 2.5,
        count: 7,
        image: Data([0xFF, 0xD8]),
        secret: "s",
        mood: "wild",
        blog: "B1"
    )

    @Test("A value becomes a record of the app, and the same value again")
    func values() async throws {
        try await CoreDataZone.run { zone in
            let format = try CoreDataFormat.coreData(PhoneModel.model())
            let record = try CloudKitRecordEncoder().encode(Self.full, as: "Post", format: format)
            #expect(record.recordType == "CD_Post")
            #expect(record.recordID.zoneID == PhoneApp.zoneID)
            #expect(record["CD_entityName"] == "Post")
            #expect(record["CD_key"] == "6F9619FF-8B86-D011-B42D-00C04FC964FF")
            #expect(record["CD_price"] == 10.11)
            #expect(record["CD_done"] == 1)
            #expect(record["CD_link"] == "https://a.b/c")
            #expect(record["CD_blog"] == "B1")
            #expect(record.encryptedValues["CD_secret"] == "s")
            #expect(record.object(forKey: "CD_secret") == nil)
            _ = try await zone.database.modifyRecords(saving: [record], deleting: [])
            try await zone.phone.sync()
            let name = record.recordID.recordName
            #expect(await zone.phone.objects[name]?.values["title"] == .text("Milk"))
            let fetched = try await zone.record(name)
            let decoder = CloudKitRecordDecoder()
            #expect(try decoder.decode(Post.self, from: fetched, format: format) == Self.full)
        }
    }

    @Test("Encoding onto a record changes what differs, and a large value becomes an asset")
    func onto() async throws {
        try await CoreDataZone.run { zone in
            let format = try CoreDataFormat.coreData(PhoneModel.model())
            let name = await zone.phone.insert(
                "Post",
                ["title": .text("Milk"), "body": .text("short"), "rating": .double(1)]
            )
            try await zone.phone.sync()
            let record = try await zone.record(name)
            let decoder = CloudKitRecordDecoder()
            var post = try decoder.decode(Post.self, from: record, format: format)
            #expect(post.mood == "calm")
            post.body = String(repeating: "b", count: 800_000)
            post.rating = nil
            let encoder = CloudKitRecordEncoder()
            try encoder.encode(post, onto: record, format: format)
            #expect(
                Set(record.changedKeys()) == ["CD_body", "CD_body_ckAsset", "CD_rating"]
            )
            _ = try await zone.database.modifyRecords(saving: [record], deleting: [])
            try await zone.phone.sync()
            let values = try #require(await zone.phone.objects[name]).values
            #expect(values["body"] == .text(String(repeating: "b", count: 800_000)))
            #expect(values["rating"] == nil)
            #expect(values["title"] == .text("Milk"))
            let fetched = try await zone.record(name)
            post.body = "short again"
            try encoder.encode(post, onto: fetched, format: format)
            #expect(Set(fetched.changedKeys()) == ["CD_body", "CD_body_ckAsset"])
            #expect(fetched.object(forKey: "CD_body_ckAsset") == nil)
        }
    }

    @Test("Properties are set by their names, and the others stay")
    func names() async throws {
        try await CoreDataZone.run { zone in
            let format = try CoreDataFormat.coreData(PhoneModel.model())
            let record = try format.record(
                of: "Video",
                ["title": .string("Clip"), "width": .integer(320)]
            )
            #expect(record.recordType == "CD_Media")
            let post = try format.record(of: "Post", ["count": .integer(3)], links: ["blog": "B1"])
            _ = try await zone.database.modifyRecords(saving: [record, post], deleting: [])
            try await zone.phone.sync()
            let name = record.recordID.recordName
            #expect(await zone.phone.objects[name]?.entity == "Video")
            #expect(await zone.phone.objects[name]?.values["width"] == .int(320))
            #expect(await zone.phone.objects[post.recordID.recordName]?.links == ["blog": "B1"])
            let fetched = try await zone.record(name)
            try format.set(["width": nil], in: fetched)
            #expect(fetched.changedKeys() == ["CD_width"])
            for (values, links) in [
                (["width": CoreDataValue.string("x")], [:]), (["colour": .string("red")], [:]),
                ([:], ["blog": "B1"]),
            ] as [([String: CoreDataValue?], [String: String?])] {
                #expect(throws: CoreDataRecordError.self) {
                    try format.set(values, links: links, in: fetched)
                }
            }
        }
    }

    @Test("What is not the model's is an error that names it")
    func errors() throws {
        struct Odd: Codable { var colour = "red" }
        struct Wrong: Codable { var title = 7 }
        let format = try CoreDataFormat.coreData(PhoneModel.model())
        let encoder = CloudKitRecordEncoder()
        func code(_ body: () throws -> Void) -> CoreDataRecordError? {
            #expect(throws: CoreDataRecordError.self, performing: body)
        }
        #expect(
            code { _ = try encoder.encode(Odd(), as: "Post", format: format) }?.code
                == .unknownProperty
        )
        #expect(
            code { _ = try encoder.encode(Odd(), as: "Film", format: format) }?.code
                == .unknownEntity
        )
        #expect(
            code {
                _ = try format.linkRecord("blog", of: "Post", from: Self.id("a"), to: Self.id("b"))
            }?
            .code == .unknownProperty
        )
        let record = CKRecord(recordType: "CD_Post", recordID: Self.id("p"))
        record["CD_title"] = 5
        #expect(
            code {
                _ = try CloudKitRecordDecoder().decode(Post.self, from: record, format: format)
            }?
            .code == .wrongType
        )
        record["CD_entityName"] = "Film"
        let error = code { _ = try format.object(record) }
        #expect(error?.description.contains("'Film' is not in the model") == true)
        let other = CKRecord(recordType: "Note", recordID: Self.id("n"))
        #expect(try format.object(other) == nil)
        #expect(
            code { _ = try CloudKitRecordDecoder().decode(Post.self, from: other, format: format) }?
                .code == .unknownEntity
        )
    }

    private static func id(_ name: String) -> CKRecord.ID { CoreDataZone.id(name) }

    @Test(
        "A graph has the objects of a zone with all relationships, and reports what it could not read"
    )
    func graph() async throws {
        try await CoreDataZone.run { zone in
            let phone = zone.phone
            let blog = await phone.insert("Blog", ["name": .text("Food")])
            let post = await phone.insert("Post", ["title": .text("Milk")], ["blog": blog])
            let other = await phone.insert("Post", ["title": .text("Rye")], ["blog": "nowhere"])
            let tag = await phone.insert("Tag", ["name": .text("white")])
            let (ada, zoe) = (await phone.insert("Person"), await phone.insert("Person"))
            let audio = await phone.insert("Audio", ["seconds": .double(3)])
            await phone.link("tags", post, tag)
            await phone.link("follows", ada, zoe)
            try await phone.sync()
            let format = try CoreDataFormat.coreData(PhoneModel.model())
            let link = try format.linkRecord(
                "posts",
                of: "Tag",
                from: Self.id(tag),
                to: Self.id(other)
            )
            let bad = CKRecord(recordType: "CD_Post", recordID: Self.id("bad"))
            bad["CD_entityName"] = "Film"
            _ = try await zone.database.modifyRecords(saving: [link, bad], deleting: [])
            try await phone.sync()
            #expect(await phone.targets("tags", other) == [tag])

            let graph = try await CoreDataGraph(format, in: zone.database)
            #expect(graph.objects(of: "Post").map(\.recordID.recordName) == [post, other])
            #expect(graph.objects(of: "Media").map(\.entity) == ["Audio"])
            #expect(graph.objects[audio]?.values["seconds"] == .double(3))
            let found = try #require(graph.objects[post])
            #expect(graph.object("blog", of: found)?.values["name"] == .string("Food"))
            let blogs = try #require(graph.objects[blog])
            #expect(graph.objects("posts", of: blogs).map(\.recordID.recordName) == [post])
            #expect(graph.objects("tags", of: found).map(\.recordID.recordName) == [tag])
            let tags = try #require(graph.objects[tag])
            #expect(graph.objects("posts", of: tags).map(\.recordID.recordName) == [post, other])
            let dangling = try #require(graph.objects[other])
            #expect(graph.object("blog", of: dangling) == nil)
            let people = try #require(graph.objects[zoe])
            #expect(graph.objects("followedBy", of: people).map(\.recordID.recordName) == [ada])
            #expect(graph.objects("follows", of: people).isEmpty)
            #expect(graph.problems.keys.map(\.recordName) == ["bad"])
            let decoder = CloudKitRecordDecoder()
            #expect(try decoder.decode(Post.self, from: found).title == "Milk")
        }
    }
}
