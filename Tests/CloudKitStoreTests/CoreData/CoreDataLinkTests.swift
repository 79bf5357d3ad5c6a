import CloudKit
import CloudKitCoreData
import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

@Suite(
    "One zone with an app that has Core Data: links of many-to-many relationships",
    .timeLimit(.minutes(5))
)
struct CoreDataLinkTests {
    @Test(
        "Links of the app become rows, whichever record comes first and whichever end is written first"
    )
    func reading() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert("Post", ["title": .text("Milk")])
            let tag = await zone.phone.insert("Tag", ["name": .text("white")])
            await zone.phone.link("tags", post, tag)
            // A link whose objects come later, with the ends the other way round.
            let early = CKRecord(recordType: "CDMR", recordID: CoreDataZone.id("L1"))
            early["CD_entityNames"] = "Tag:Post"
            early["CD_recordNames"] = "T1:\(post)"
            early["CD_relationships"] = "posts:tags"
            _ = try await zone.database.modifyRecords(saving: [early], deleting: [])
            try await zone.settle()
            #expect(try await zone.device.texts("SELECT tags FROM Post_tags") == [tag])
            let late = CKRecord(recordType: "CD_Tag", recordID: CoreDataZone.id("T1"))
            late["CD_entityName"] = "Tag"
            _ = try await zone.database.modifyRecords(saving: [late], deleting: [])
            try await zone.settle()
            #expect(
                try await zone.device.texts("SELECT posts || ' ' || tags FROM Post_tags").sorted()
                    == ["\(post) \(tag)", "\(post) T1"].sorted()
            )
            #expect(try await zone.device.store.status.isSettled)
            #expect(try await zone.device.store.verify().differences == [])
        }
    }

    @Test("Rows become links in the app's own words, and deleted rows remove them")
    func writing() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run(
                """
                INSERT INTO Post_tags (recordName, posts, tags) VALUES ('L1', 'P1', 'T1');
                INSERT INTO Person_followedBy (recordName, follows, followedBy)
                    VALUES ('L2', 'U1', 'U2');
                INSERT INTO Post (recordName, title) VALUES ('P1', 'Milk');
                INSERT INTO Tag (recordName, name) VALUES ('T1', 'white');
                INSERT INTO Person (recordName, name) VALUES ('U1', 'Ada'), ('U2', 'Zoe');
                """
            )
            try await zone.settle()
            let link = try await zone.record("L1")
            #expect(link.recordType == "CDMR")
            #expect(
                Set(link.allKeys()) == ["CD_entityNames", "CD_recordNames", "CD_relationships"]
            )
            #expect(link["CD_entityNames"] == "Post:Tag")
            #expect(link["CD_recordNames"] == "P1:T1")
            #expect(link["CD_relationships"] == "tags:posts")
            let own = try await zone.record("L2")
            #expect(own["CD_entityNames"] == "Person:Person")
            #expect(own["CD_relationships"] == "followedBy:follows")
            // The column is named after the relationship that leads to its row.
            #expect(own["CD_recordNames"] == "U1:U2")
            #expect(await zone.phone.targets("tags", "P1") == ["T1"])
            #expect(await zone.phone.targets("follows", "U2") == ["U1"])
            try await zone.device.run("DELETE FROM Post_tags; DELETE FROM Person_followedBy")
            try await zone.settle()
            #expect(await zone.phone.links.isEmpty)
        }
    }

    @Test("The app removes links, and with an object those of its rows go")
    func removing() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert("Post", ["title": .text("Milk")])
            let tags = [await zone.phone.insert("Tag"), await zone.phone.insert("Tag")]
            for tag in tags { await zone.phone.link("tags", post, tag) }
            try await zone.settle()
            #expect(try await zone.device.texts("SELECT tags FROM Post_tags").count == 2)
            await zone.phone.unlink("tags", post, tags[0])
            try await zone.settle()
            #expect(try await zone.device.texts("SELECT tags FROM Post_tags") == [tags[1]])
            try await zone.device.run("DELETE FROM Tag WHERE recordName = ?", [tags[1]])
            try await zone.settle()
            #expect(await zone.phone.links.isEmpty)
        }
    }

    @Test("A link that the app made to an object that was deleted meanwhile goes")
    func late() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert("Post", ["title": .text("Milk")])
            let tag = await zone.phone.insert("Tag")
            try await zone.settle()
            try await zone.device.run("DELETE FROM Tag")
            try await zone.device.store.sync()
            await zone.phone.link("tags", post, tag)
            // It exports without an import.
            _ = try await zone.phone.send()
            try await zone.settle()
            #expect(await zone.phone.links.isEmpty)
            #expect(try await zone.device.store.status.isSettled)
        }
    }

    @Test("A link that both sides made at once has two rows, and goes when both are deleted")
    func duplicates() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert("Post", ["title": .text("Milk")])
            let tag = await zone.phone.insert("Tag")
            try await zone.settle()
            await zone.phone.link("tags", post, tag)
            try await zone.device.run(
                "INSERT INTO Post_tags (recordName, posts, tags) VALUES ('L1', ?, ?)",
                [post, tag]
            )
            try await zone.settle()
            #expect(try await zone.device.texts("SELECT DISTINCT tags FROM Post_tags") == [tag])
            #expect(await zone.phone.targets("tags", post) == [tag])
            #expect(try await zone.device.store.status.isSettled)
            try await zone.device.run(
                "DELETE FROM Post_tags WHERE posts = ? AND tags = ?",
                [post, tag]
            )
            try await zone.settle()
            #expect(await zone.phone.links.isEmpty)
            #expect(try await zone.device.texts("SELECT tags FROM Post_tags") == [])
        }
    }

    @Test(
        "Links by relationships that the model does not have, or without both parts, are left alone"
    )
    func unknown() async throws {
        try await CoreDataZone.run { zone in
            let texts = [
                ("Post:Tag", "P1:T1", "labels:posts"), ("Post:Tag", "P1", "tags:posts"),
                ("Post:Tag:Tag", "P1:T1:T2", "tags:posts:posts"), ("Post:Tag", ":T1", "tags:posts"),
            ]
            let records = texts.enumerated().map { place, texts in
                let record = CKRecord(recordType: "CDMR", recordID: CoreDataZone.id("L\(place)"))
                record["CD_entityNames"] = texts.0
                record["CD_recordNames"] = texts.1
                record["CD_relationships"] = texts.2
                return record
            }
            _ = try await zone.database.modifyRecords(saving: records, deleting: [])
            try await zone.settle()
            #expect(try await zone.device.texts("SELECT tags FROM Post_tags") == [])
            #expect(try await zone.device.store.status.isSettled)
            // The next start looks at them again.
            await zone.device.store.stop()
            let next = try await ModelDevice(zone.container, database: zone.device.database)
            try await next.store.sync()
            #expect(try await zone.record("L0")["CD_relationships"] == "labels:posts")
        }
    }

    @Test("A link that is given other ends is quarantined, because the app keeps the first ones")
    func changedEnds() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run(
                """
                INSERT INTO Post (recordName, title) VALUES ('P1', 'Milk');
                INSERT INTO Tag (recordName, name) VALUES ('T1', 'white'), ('T2', 'cold');
                INSERT INTO Post_tags (recordName, posts, tags) VALUES ('L1', 'P1', 'T1');
                """
            )
            try await zone.settle()
            try await zone.device.run("UPDATE Post_tags SET tags = 'T2'")
            try await zone.device.store.sync()
            let reasons = try await zone.device.store.status.quarantined.map(\.reason)
            #expect(reasons.count == 1)
            #expect(reasons.first?.contains("delete it, and insert another") == true)
            #expect(try await zone.record("L1")["CD_recordNames"] == "P1:T1")
        }
    }
}
