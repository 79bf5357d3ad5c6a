import CloudKit
import CloudKitCoreData
import CloudKitStore
import Foundation
import GRDB
import Support
import Synchronization
import Testing

@Suite("One zone with an app that has Core Data: objects", .timeLimit(.minutes(5)))
struct CoreDataZoneTests {
    private static let key = "6F9619FF-8B86-D011-B42D-00C04FC964FF"

    @Test("Objects of the app become rows, with each type of value and with links in any order")
    func reading() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert(
                "Post",
                [
                    "title": .text("Milk"), "key": .text(Self.key),
                    "link": .text("https://a.b/c"), "price": .double(10.11), "done": .int(1),
                    "due": .date(Date(timeIntervalSinceReferenceDate: 0)),
                    "rating": .double(2.5), "count": .int(9_000_000_000),
                    "image": .data(Data([0xFF, 0xD8])), "secret": .text("s"),
                ]
            )
            try await zone.phone.sync()
            // The target comes with a later fetch.
            let blog = "B0000000-0000-4000-8000-000000000001"
            await zone.phone.set("blog", to: blog, of: post)
            try await zone.phone.sync()
            try await zone.device.store.sync()
            #expect(try await zone.device.text("SELECT blog FROM Post") == nil)
            let record = CKRecord(recordType: "CD_Blog", recordID: CoreDataZone.id(blog))
            record["CD_entityName"] = "Blog"
            record["CD_name"] = "Food"
            _ = try await zone.database.modifyRecords(saving: [record], deleting: [])
            try await zone.device.store.sync()
            let row = try await zone.device.text(
                """
                SELECT json_array(recordName, title, key, link, price, done, due, rating, count,
                    hex(image), secret, mood, blog, cover, local) FROM Post
                """
            )
            #expect(
                row == """
                    ["\(post)","Milk","\(Self.key)","https://a.b/c","10.11",1,\
                    "2001-01-01 00:00:00.000",2.5,9000000000,"FFD8","s","calm","\(blog)",null,null]
                    """
            )
            #expect(try await zone.device.store.status.isSettled)
            #expect(try await zone.device.store.verify().differences == [])
        }
    }

    @Test("Rows become records as the app writes them, without any field of the store")
    func writing() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run(
                """
                INSERT INTO Blog (recordName, name) VALUES ('B1', 'Food');
                INSERT INTO Post (recordName, title, key, link, price, done, due, rating, count,
                    image, secret, mood, blog, local)
                    VALUES ('P1', 'Milk', lower('\(Self.key)'), 'https://a.b/c', '10.11', 1,
                    '2001-01-01 00:00:00.000', 2.5, 7, x'FFD8', 's', NULL, 'B1', 'here');
                """
            )
            try await zone.device.store.sync()
            let record = try await zone.record("P1")
            #expect(record.recordType == "CD_Post")
            #expect(
                Set(record.allKeys()) == [
                    "CD_entityName", "CD_title", "CD_key", "CD_link", "CD_price", "CD_done",
                    "CD_due", "CD_rating", "CD_count", "CD_image", "CD_blog", "CD_mood",
                ]
            )
            #expect(record.encryptedValues.allKeys() == ["CD_secret"])
            #expect(record["CD_entityName"] == "Post")
            #expect(record["CD_key"] == Self.key)
            #expect(record["CD_price"] == 10.11)
            #expect(record["CD_blog"] == "B1")
            try await zone.phone.sync()
            let post = try #require(await zone.phone.objects["P1"])
            #expect(
                post.values == [
                    "title": .text("Milk"), "key": .text(Self.key), "link": .text("https://a.b/c"),
                    "price": .double(10.11), "done": .int(1),
                    "due": .date(Date(timeIntervalSinceReferenceDate: 0)), "rating": .double(2.5),
                    "count": .int(7), "image": .data(Data([0xFF, 0xD8])), "secret": .text("s"),
                    // The format cannot say that an attribute with a default has no value, so that no row does.
                    "mood": .text("calm"),
                ]
            )
            #expect(post.links == ["blog": "B1"])
            #expect(try await zone.device.store.verify().differences == [])
        }
    }

    @Test("An edit changes its own fields alone, and fields of other versions of the app stay")
    func changedKeys() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert("Post", ["title": .text("Milk"), "count": .int(3)])
            try await zone.phone.sync()
            let record = try await zone.record(post)
            record["CD_future"] = "kept"
            record["CD_moveReceipt"] = Data([1])
            _ = try await zone.database.modifyRecords(saving: [record], deleting: [])
            try await zone.device.store.sync()
            // The phone changes another field before the device sends.
            await zone.phone.set("count", .int(4), of: post)
            try await zone.phone.sync()
            try await zone.device.run("UPDATE Post SET title = 'Bread'")
            try await zone.settle()
            let after = try await zone.record(post)
            #expect(after["CD_title"] == "Bread")
            #expect(after["CD_count"] == 4)
            #expect(after["CD_future"] == "kept")
            #expect(after["CD_moveReceipt"] == Data([1]))
            #expect(await zone.phone.objects[post]?.values["title"] == .text("Bread"))
            #expect(try await zone.device.text("SELECT title || count FROM Post") == "Bread4")
        }
    }

    @Test("A missing field is the attribute's default, as the app reads it")
    func defaults() async throws {
        try await CoreDataZone.run { zone in
            let record = CKRecord(recordType: "CD_Post", recordID: CoreDataZone.id("P1"))
            record["CD_mood"] = "wild"
            record["CD_count"] = 5
            _ = try await zone.database.modifyRecords(saving: [record], deleting: [])
            try await zone.device.store.sync()
            #expect(
                try await zone.device.text("SELECT mood || count || done FROM Post") == "wild50"
            )
            let again = try await zone.record("P1")
            again["CD_mood"] = nil as String?
            again["CD_count"] = nil as Int?
            _ = try await zone.database.modifyRecords(saving: [again], deleting: [])
            try await zone.device.store.sync()
            #expect(try await zone.device.text("SELECT mood || count FROM Post") == "calm0")
            #expect(try await zone.device.store.verify().differences == [])
        }
    }

    @Test(
        "Entities of one hierarchy are rows of one table, and one that is not known waits for its version"
    )
    func hierarchy() async throws {
        try await CoreDataZone.run { zone in
            let audio = await zone.phone.insert(
                "Audio",
                ["title": .text("Song"), "seconds": .double(61)]
            )
            try await zone.phone.sync()
            let film = CKRecord(recordType: "CD_Media", recordID: CoreDataZone.id("F1"))
            film["CD_entityName"] = "Film"
            film["CD_title"] = "Later"
            film["CD_director"] = "Ada"
            _ = try await zone.database.modifyRecords(saving: [film], deleting: [])
            try await zone.device.run(
                "INSERT INTO Media (recordName, entity, title) VALUES ('V1', 'Video', 'Clip')"
            )
            try await zone.settle()
            #expect(
                try await zone.device.texts(
                    "SELECT json_array(recordName, entity, title, seconds, width) FROM Media"
                ).sorted()
                    == [
                        #"["V1","Video","Clip",null,640]"#,
                        #"["\#(audio)","Audio","Song",61.0,null]"#,
                    ].sorted()
            )
            #expect(await zone.phone.objects["V1"]?.entity == "Video")
            #expect(await zone.phone.objects["V1"]?.values["width"] == .int(640))
            #expect(try await zone.device.store.status.quarantined.isEmpty)
            await zone.device.store.stop()
            try await zone.device.run("ALTER TABLE Media ADD COLUMN director TEXT")
            let next = try await ModelDevice(
                zone.container,
                database: zone.device.database,
                adding: """
                    <entity name="Film" parentEntity="Media">
                    <attribute name="director" optional="YES" attributeType="String"/></entity>
                    """
            )
            #expect(
                try await next.text("SELECT title || director FROM Media WHERE entity = 'Film'")
                    == "LaterAda"
            )
        }
    }

    @Test(
        "Of two edits of one attribute the later one wins, an edit of the app being as late as its arrival"
    )
    func conflicts() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert("Post", ["title": .text("first")])
            try await zone.phone.sync()
            try await zone.device.store.sync()
            // A device's clock is trusted within half a minute.
            try await zone.device.setClock(seconds: -10)
            try await zone.device.run("UPDATE Post SET title = 'earlier', count = 3")
            await zone.phone.set("title", .text("theirs"), of: post)
            try await zone.phone.sync()
            try await zone.settle()
            #expect(try await zone.device.text("SELECT title || count FROM Post") == "theirs3")
            #expect(await zone.phone.objects[post]?.values["count"] == .int(3))
            #expect(
                try await zone.device.store.journal().map(\.lost) == [
                    ["CD_title": .text("earlier")]
                ]
            )
            await zone.phone.set("title", .text("before"), of: post)
            try await zone.phone.sync()
            try await zone.device.setClock(seconds: 10)
            try await zone.device.run("UPDATE Post SET title = 'later'")
            try await zone.settle()
            #expect(await zone.phone.objects[post]?.values["title"] == .text("later"))
        }
    }

    @Test("A save whose response was lost is recognized by its values, and counts once")
    func lostResponse() async throws {
        let transport = Mutex<InterruptedTransport?>(nil)
        try await CoreDataZone.run(
            transport: { base in
                let made = InterruptedTransport(base)
                transport.withLock { $0 = made }
                return made
            },
            { zone in
                let post = await zone.phone.insert("Post", ["title": .text("a")])
                try await zone.phone.sync()
                try await zone.device.store.sync()
                try await zone.device.run("UPDATE Post SET title = 'b'")
                transport.withLock { $0 }?.fail("/records/modify", .lost)
                // The sync reports the lost response, or sends again.
                _ = try? await zone.device.store.sync()
                // The app edits what arrived, and the device edits something else.
                await zone.phone.set("title", .text("c"), of: post)
                try await zone.phone.sync()
                await zone.phone.set("count", .int(1), of: post)
                try await zone.phone.sync()
                try await zone.settle()
                #expect(try await zone.device.text("SELECT title || count FROM Post") == "c1")
                #expect(await zone.phone.objects[post]?.values["title"] == .text("c"))
                #expect(try await zone.device.store.status.isSettled)
            }
        )
    }

    @Test(
        "An edit after a lost response stays, though the app edited the record elsewhere meanwhile",
        arguments: [true, false]
    )
    func editAfterLostResponse(_ isNew: Bool) async throws {
        let transport = Mutex<InterruptedTransport?>(nil)
        try await CoreDataZone.run(
            transport: { base in
                let made = InterruptedTransport(base)
                transport.withLock { $0 = made }
                return made
            },
            { zone in
                if !isNew {
                    try await zone.device.run("INSERT INTO Post (recordName) VALUES ('P1')")
                }
                try await zone.device.store.sync()
                try await zone.device.run(
                    """
                    INSERT OR IGNORE INTO Post (recordName) VALUES ('P1');
                    UPDATE Post SET title = 'a';
                    """
                )
                transport.withLock { $0 }?.fail("/records/modify", .lost)
                // The sync reports the lost response, or sends again.
                _ = try? await zone.device.store.sync()
                try await zone.device.run("UPDATE Post SET title = 'b'")
                try await zone.phone.sync()
                await zone.phone.set("mood", .text("wild"), of: "P1")
                try await zone.phone.sync()
                try await zone.settle()
                #expect(try await zone.device.text("SELECT title || mood FROM Post") == "bwild")
                #expect(await zone.phone.objects["P1"]?.values["title"] == .text("b"))
            }
        )
    }

    @Test("An edit of an object whose creation got no response stays, whatever the clock says")
    func editOfUnansweredObject() async throws {
        let transport = Mutex<InterruptedTransport?>(nil)
        try await CoreDataZone.run(
            transport: { base in
                let made = InterruptedTransport(base)
                transport.withLock { $0 = made }
                return made
            },
            { zone in
                try await zone.device.setClock(seconds: 3600)
                try await zone.device.run(
                    "INSERT INTO Person (recordName, name) VALUES ('U1', 'a')"
                )
                transport.withLock { $0 }?.fail("/records/modify", .lost)
                // The sync reports the lost response, or sends again.
                _ = try? await zone.device.store.sync()
                try await zone.phone.sync()
                await zone.phone.set("name", .text("b"), of: "U1")
                try await zone.phone.sync()
                try await zone.settle()
                #expect(try await zone.device.text("SELECT name FROM Person") == "b")
            }
        )
    }

    @Test("Deletions go both ways, with the rows below where the model says so")
    func deletions() async throws {
        try await CoreDataZone.run { zone in
            let blog = await zone.phone.insert("Blog", ["name": .text("Food")])
            let post = await zone.phone.insert("Post", ["title": .text("Milk")], ["blog": blog])
            let other = await zone.phone.insert("Post", ["title": .text("Other")])
            try await zone.settle()
            await zone.phone.delete(other)
            try await zone.device.run("DELETE FROM Blog")
            try await zone.settle()
            #expect(try await zone.device.texts("SELECT recordName FROM Post") == [])
            #expect(await zone.phone.objects[blog] == nil)
            #expect(await zone.phone.objects[post] == nil)
            #expect(try await zone.device.store.status.isSettled)
        }
    }

    @Test("An object that the app deleted while a row was edited comes back whole")
    func deletedThere() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert(
                "Post",
                ["title": .text("Milk"), "rating": .double(1)]
            )
            try await zone.settle()
            await zone.phone.delete(post)
            try await zone.phone.sync()
            try await zone.device.run("UPDATE Post SET title = 'Bread'")
            try await zone.settle()
            let values = try #require(await zone.phone.objects[post]).values
            #expect(values["title"] == .text("Bread"))
            #expect(values["rating"] == .double(1))
            #expect(try await zone.record(post)["CD_entityName"] == "Post")
        }
    }

    @Test(
        "One-to-one ends that refer to each other, and rows that refer to their own table, arrive"
    )
    func circles() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run(
                """
                INSERT INTO Post (recordName, title, cover) VALUES ('P1', 'Milk', 'C1');
                INSERT INTO Cover (recordName, caption, post) VALUES ('C1', 'Cow', 'P1');
                INSERT INTO Person (recordName, name, manager) VALUES ('A', 'Ada', 'Z');
                INSERT INTO Person (recordName, name, manager) VALUES ('Z', 'Zoe', 'A');
                """
            )
            try await zone.settle()
            let objects = await zone.phone.objects
            #expect(objects["P1"]?.links == ["cover": "C1"])
            #expect(objects["C1"]?.links == ["post": "P1"])
            #expect(objects["A"]?.links == ["manager": "Z"])
            #expect(objects["Z"]?.links == ["manager": "A"])
            await zone.phone.set("manager", to: nil, of: "A")
            try await zone.settle()
            #expect(
                try await zone.device.text("SELECT manager FROM Person WHERE name = 'Ada'") == nil
            )
        }
    }

    @Test("The store's own shares are refused, because the app shares in zones of its own")
    func sharing() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run("INSERT INTO Blog (recordName) VALUES ('B1')")
            try await zone.device.store.sync()
            let error = await #expect(throws: CloudStoreError.self) {
                try await zone.device.store.share("B1", in: "Blog")
            }
            #expect(error?.message.contains("share them there") == true)
            await #expect(throws: CloudStoreError.self) {
                try await zone.device.store.shareEverything()
            }
        }
    }

    @Test("A value that the app could not read is quarantined with its reason")
    func unwritable() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run(
                """
                INSERT INTO Post (recordName, key) VALUES ('P1', 'no UUID');
                INSERT INTO Post (recordName, price) VALUES ('P2', 'ten');
                INSERT INTO Post (recordName, due) VALUES ('P3', 'tomorrow');
                INSERT INTO Post (recordName, rating) VALUES ('P4', 9e999);
                INSERT INTO Media (recordName, entity) VALUES ('M1', 'Film');
                INSERT INTO Post (recordName, title) VALUES ('P5', 'fine');
                """
            )
            try await zone.device.store.sync()
            let reasons = try await zone.device.store.status.quarantined.map(\.reason).sorted()
            #expect(reasons.count == 5)
            for part in [
                "'key' holds is no UUID", "'price' holds is no number",
                "'due' holds is no value of its type", "'rating' holds is no value of its type",
                "'Film', which is none of Audio, Video",
            ] {
                #expect(reasons.contains { $0.contains(part) }, "\(part)")
            }
            #expect(try await zone.record("P5")["CD_title"] == "fine")
            try await zone.device.run("UPDATE Post SET price = '10' WHERE recordName = 'P2'")
            try await zone.device.store.sync()
            #expect(try await zone.record("P2")["CD_price"] == 10.0)
        }
    }
}

extension ModelDevice {
    /// Sets the device's clock relative to the machine's.
    func setClock(seconds: Double) async throws {
        let now = (Date.now.timeIntervalSince1970 + seconds) * 1000
        try await run("UPDATE grdb_cloudkit_control SET wall = ?, clock = 0", [Int64(now)])
    }
}
