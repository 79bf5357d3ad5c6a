import CloudKit
import CloudKitCoreData
import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

@Suite("One zone with an app that has Core Data: large values", .timeLimit(.minutes(5)))
struct CoreDataLargeValueTests {
    private static func text(_ count: Int, _ character: Character = "x") -> String {
        String(repeating: character, count: count)
    }

    @Test("Values that are too large for a record are assets, the smallest values stay")
    func writing() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run(
                """
                INSERT INTO Post (recordName, title, body, image, secret)
                    VALUES ('P1', 'Milk', ?, ?, ?)
                """,
                [Self.text(500_000), Data(count: 300_000), Self.text(800_000, "s")]
            )
            try await zone.device.store.sync()
            let record = try await zone.record("P1")
            #expect(record.object(forKey: "CD_body") == nil)
            #expect(record.object(forKey: "CD_body_ckAsset") is CKAsset)
            #expect((record["CD_image"] as? Data)?.count == 300_000)
            #expect(record.object(forKey: "CD_image_ckAsset") == nil)
            #expect(record.encryptedValues.object(forKey: "CD_secret") == nil)
            #expect(record.object(forKey: "CD_secret_ckAsset") is CKAsset)
            try await zone.phone.sync()
            let values = try #require(await zone.phone.objects["P1"]).values
            #expect(values["body"] == .text(Self.text(500_000)))
            #expect(values["secret"] == .text(Self.text(800_000, "s")))
            #expect(values["image"] == .data(Data(count: 300_000)))
        }
    }

    @Test("A value that shrinks returns from its asset, and one beside large ones becomes one")
    func moving() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run(
                "INSERT INTO Post (recordName, title, body, image) VALUES ('P1', 'Milk', ?, ?)",
                [Self.text(800_000), Data(count: 400_000)]
            )
            try await zone.settle()
            // The image takes its room already.
            try await zone.device.run("UPDATE Post SET body = ?", [Self.text(350_000, "y")])
            try await zone.settle()
            var record = try await zone.record("P1")
            #expect(record.object(forKey: "CD_body") == nil)
            #expect((record["CD_image"] as? Data)?.count == 400_000)
            #expect(
                await zone.phone.objects["P1"]?.values["body"] == .text(Self.text(350_000, "y"))
            )
            try await zone.device.run("UPDATE Post SET body = 'short'")
            try await zone.settle()
            record = try await zone.record("P1")
            #expect(record["CD_body"] == "short")
            #expect(record.object(forKey: "CD_body_ckAsset") == nil)
            try await zone.device.run("UPDATE Post SET image = NULL")
            try await zone.settle()
            #expect(await zone.phone.objects["P1"]?.values["image"] == nil)
            #expect(try await zone.device.store.verify().differences == [])
        }
    }

    @Test("Assets of the app become values, and go when the app has a small value in their place")
    func reading() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert(
                "Post",
                [
                    "body": .text(Self.text(900_000, "é")), "image": .data(Data(count: 2_000_000)),
                    "secret": .text(Self.text(750_000)),
                ]
            )
            try await zone.settle()
            let sizes = """
                SELECT length(body) || ' ' || length(image) || ' ' || length(secret) FROM Post
                """
            #expect(try await zone.device.text(sizes) == "900000 2000000 750000")
            await zone.phone.set("body", .text("short"), of: post)
            await zone.phone.set("image", nil, of: post)
            try await zone.settle()
            #expect(
                try await zone.device.text("SELECT body || (image IS NULL) FROM Post") == "short1"
            )
            // Both at once: the field counts.
            let record = try await zone.record(post)
            record["CD_secret_ckAsset"] = nil as CKAsset?
            record.encryptedValues["CD_secret"] = "plain"
            _ = try await zone.database.modifyRecords(saving: [record], deleting: [])
            try await zone.settle()
            #expect(try await zone.device.text("SELECT secret FROM Post") == "plain")
            #expect(try await zone.device.store.status.isSettled)
        }
    }

    @Test("A large value that lost to another one's edit does not stay in the record")
    func conflict() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert("Post", ["body": .text("first")])
            try await zone.settle()
            await zone.phone.set("body", .text(Self.text(800_000, "p")), of: post)
            try await zone.phone.sync()
            try await zone.device.setClock(seconds: 10)
            try await zone.device.run("UPDATE Post SET body = 'later'")
            try await zone.settle()
            #expect(await zone.phone.objects[post]?.values["body"] == .text("later"))
            let record = try await zone.record(post)
            #expect(record["CD_body"] == "later")
            #expect(record.object(forKey: "CD_body_ckAsset") == nil)
            #expect(try await zone.device.text("SELECT body FROM Post") == "later")
        }
    }
}
