import CloudKit
import CloudKitCoreData
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Testing

@Suite(
    "One zone with an app that has Core Data: objects that the app shares",
    .timeLimit(.minutes(5))
)
struct CoreDataSharingTests {
    /// The objects that a test shares, by the names of their records.
    private struct Graph {
        var blog = ""
        var post = ""
        var tag = ""
        /// An object that nothing is connected with.
        var other = ""
    }

    /// Runs a test with a graph of objects that both sides have.
    private func run(
        _ body: @Sendable (CoreDataZone, Graph) async throws -> Void
    ) async throws {
        try await CoreDataZone.run { zone in
            var graph = Graph()
            graph.blog = await zone.phone.insert("Blog", ["name": .text("Food")])
            graph.post = await zone.phone.insert(
                "Post",
                ["title": .text("Milk"), "body": .text("white")],
                ["blog": graph.blog]
            )
            graph.tag = await zone.phone.insert("Tag", ["name": .text("cow")])
            graph.other = await zone.phone.insert("Blog", ["name": .text("Own")])
            await zone.phone.link("tags", graph.post, graph.tag)
            try await zone.settle()
            try await body(zone, graph)
        }
    }

    private func expectRows(_ graph: Graph, _ device: ModelDevice) async throws {
        #expect(
            try await device.texts("SELECT recordName FROM Blog").sorted()
                == [graph.blog, graph.other].sorted()
        )
        #expect(
            try await device.texts("SELECT recordName || blog FROM Post")
                == [graph.post + graph.blog]
        )
        #expect(
            try await device.texts("SELECT posts || tags FROM Post_tags")
                == [graph.post + graph.tag]
        )
        #expect(try await device.store.verify().differences == [])
        #expect(try await device.store.status.isSettled)
        #expect(try await device.store.status.quarantined.isEmpty)
    }

    /// Returns the names of the records in a zone of a database, apart from shares.
    private func names(
        _ zone: CKRecordZone.ID,
        in database: CKDatabase
    ) async throws -> Set<String> {
        let page = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
        return Set(
            try page.modificationResultsByID.values.map { try $0.get().record }
                .filter { !($0 is CKShare) }.map(\.recordID.recordName)
        )
    }

    @Test(
        "Rows follow their objects into a shared zone, with their links and what the device alone has"
    )
    func following() async throws {
        try await run { zone, graph in
            try await zone.device.run("UPDATE Post SET local = 'mine'")
            try await zone.phone.share(graph.post)
            try await zone.settle()
            try await expectRows(graph, zone.device)
            #expect(try await zone.device.text("SELECT local FROM Post") == "mine")
            #expect(try await names(PhoneApp.zoneID, in: zone.database) == [graph.other])
            // A device that comes later sees the same.
            let later = try await ModelDevice(try await zone.cloud.device(of: zone.user))
            try await later.store.sync()
            try await expectRows(graph, later)
        }
    }

    @Test(
        "A row follows its object also when a device syncs in the middle of the move",
        arguments: PhoneApp.MoveOrder.allCases
    )
    func middle(_ order: PhoneApp.MoveOrder) async throws {
        try await run { zone, graph in
            try await zone.phone.share(graph.blog, first: order) {
                try await zone.device.store.sync()
            }
            try await zone.settle()
            try await expectRows(graph, zone.device)
            #expect(try await names(PhoneApp.zoneID, in: zone.database) == [graph.other])
        }
    }

    @Test(
        "Objects whose records get new names in the shared zone are new rows, and none is there twice"
    )
    func newNames() async throws {
        try await run { zone, graph in
            try await zone.phone.share(graph.blog, renames: true)
            try await zone.settle()
            let objects = await zone.phone.objects
            var renamed = graph
            renamed.post = try #require(objects.first { $0.value.entity == "Post" }?.key)
            renamed.tag = try #require(objects.first { $0.value.entity == "Tag" }?.key)
            renamed.blog = try #require(objects[renamed.post]?.links["blog"])
            #expect(renamed.post != graph.post)
            try await expectRows(renamed, zone.device)
        }
    }

    @Test("Edits that wait while the app moves their object go where it is, and a deletion does")
    func waitingEdits() async throws {
        try await run { zone, graph in
            try await zone.device.run("UPDATE Post SET title = 'Bread'; DELETE FROM Post_tags;")
            await zone.phone.set("body", .text("brown"), of: graph.post)
            let share = try await zone.phone.share(graph.blog)
            try await zone.settle()
            #expect(try await zone.device.text("SELECT title || body FROM Post") == "Breadbrown")
            #expect(await zone.phone.objects[graph.post]?.values["title"] == .text("Bread"))
            #expect(await zone.phone.targets("tags", graph.post).isEmpty)
            #expect(try await names(PhoneApp.zoneID, in: zone.database) == [graph.other])
            let shared = share.recordID.zoneID
            #expect(
                try await names(shared, in: zone.database) == [graph.blog, graph.post, graph.tag]
            )
            #expect(try await zone.device.store.status.isSettled)
        }
    }

    @Test(
        "Both sides edit in a shared zone, where new rows go with the rows that they are connected with"
    )
    func editing() async throws {
        try await run { zone, graph in
            let share = try await zone.phone.share(graph.blog)
            try await zone.settle()
            try await zone.device.run(
                """
                INSERT INTO Cover (recordName, caption, post) VALUES ('C1', 'Cow', 'P2');
                INSERT INTO Post (recordName, title, blog, cover)
                    VALUES ('P2', 'Bread', '\(graph.blog)', 'C1');
                INSERT INTO Tag (recordName, name) VALUES ('T2', 'new'), ('T3', 'alone');
                INSERT INTO Post_tags (recordName, posts, tags) VALUES ('L2', 'P2', 'T2');
                UPDATE Post SET title = 'Cheese' WHERE recordName = '\(graph.post)';
                """
            )
            try await zone.settle()
            let record = try await zone.database.record(
                for: CKRecord.ID(recordName: graph.post, zoneID: share.recordID.zoneID)
            )
            #expect(record["CD_title"] == "Cheese")
            #expect(record["CD_moveReceipt"] as? Data == PhoneApp.receipt)
            #expect(record.parent == nil)
            #expect(
                try await names(share.recordID.zoneID, in: zone.database)
                    .isSuperset(of: ["C1", "P2", "T2", "L2"])
            )
            #expect(
                try await names(PhoneApp.zoneID, in: zone.database) == [graph.other, "T3"]
            )
            #expect(await zone.phone.objects["P2"]?.links == ["blog": graph.blog, "cover": "C1"])
            #expect(await zone.phone.targets("tags", "P2") == ["T2"])
            await zone.phone.delete(graph.tag)
            await zone.phone.set("caption", .text("Calf"), of: "C1")
            try await zone.device.run("DELETE FROM Post WHERE recordName = '\(graph.post)'")
            try await zone.settle()
            #expect(try await zone.device.text("SELECT caption FROM Cover") == "Calf")
            #expect(try await zone.device.texts("SELECT tags FROM Post_tags") == ["T2"])
            #expect(await zone.phone.objects[graph.post] == nil)
            #expect(try await zone.device.store.verify().differences == [])
            #expect(try await zone.device.store.status.isSettled)
        }
    }

    @Test("A link between two zones is quarantined with its reason, and nothing else waits for it")
    func twoZones() async throws {
        try await run { zone, graph in
            try await zone.phone.share(graph.blog)
            try await zone.settle()
            try await zone.device.run(
                """
                UPDATE Post SET title = 'Bread';
                UPDATE Post SET blog = '\(graph.other)';
                UPDATE Blog SET name = 'Mine' WHERE recordName = '\(graph.other)';
                """
            )
            try await zone.settle()
            let reasons = try await zone.device.store.status.quarantined.map(\.reason)
            #expect(reasons.count == 1)
            #expect(reasons.first?.contains("'blog' refers to the row '\(graph.other)'") == true)
            #expect(await zone.phone.objects[graph.other]?.values["name"] == .text("Mine"))
            try await zone.device.run("UPDATE Post SET blog = '\(graph.blog)'")
            try await zone.settle()
            #expect(await zone.phone.objects[graph.post]?.values["title"] == .text("Bread"))
            try await expectRows(graph, zone.device)
        }
    }

    @Test("Objects that are no longer shared come back with what was edited meanwhile")
    func comingBack() async throws {
        try await run { zone, graph in
            let share = try await zone.phone.share(graph.blog)
            try await zone.settle()
            try await zone.device.run("UPDATE Post SET local = 'mine', title = 'Bread'")
            await zone.phone.set("body", .text("brown"), of: graph.post)
            try await zone.phone.sync()
            try await zone.phone.stopSharing(share.recordID.zoneID)
            try await zone.settle()
            try await expectRows(graph, zone.device)
            #expect(try await zone.device.text("SELECT local FROM Post") == "mine")
            #expect(await zone.phone.objects[graph.post]?.values["title"] == .text("Bread"))
            #expect(await zone.phone.objects[graph.post]?.values["body"] == .text("brown"))
            #expect(try await names(PhoneApp.zoneID, in: zone.database).count == 5)
        }
    }

    @Test(
        "Of an object that is in both zones the shared one shows, and the other when that is deleted"
    )
    func bothZones() async throws {
        try await run { zone, graph in
            // The app ended within the move: nothing was deleted, and another device edits what it knows.
            let record = try await zone.record(graph.post)
            let share = try await zone.phone.share(graph.post, first: .creates) {
                record["CD_title"] = "edited"
                _ = try await zone.database.modifyRecords(saving: [record], deleting: [])
                try await zone.device.store.sync()
                let reasons = try await zone.device.store.status.quarantined.map(\.reason)
                #expect(
                    reasons.contains { $0.contains("'\(graph.post)' is in the zone of the app") }
                )
                #expect(try await zone.device.text("SELECT title FROM Post") == "Milk")
                #expect(try await zone.device.texts("SELECT recordName FROM Post").count == 1)
                #expect(try await zone.device.store.verify().differences == [])
            }
            // Instead of the first, the new one goes.
            let again = CKRecord(
                recordType: "CD_Post",
                recordID: CoreDataZone.id(graph.post)
            )
            again["CD_entityName"] = "Post"
            again["CD_title"] = "again"
            _ = try await zone.database.modifyRecords(saving: [again], deleting: [])
            try await zone.device.store.sync()
            #expect(try await zone.device.text("SELECT title FROM Post") == "Milk")
            _ = try await zone.database.deleteRecord(
                withID: CKRecord.ID(recordName: graph.post, zoneID: share.recordID.zoneID)
            )
            try await zone.device.store.sync()
            #expect(try await zone.device.text("SELECT title FROM Post") == "again")
            #expect(try await zone.device.store.status.quarantined.isEmpty)
            #expect(try await zone.device.store.verify().differences == [])
        }
    }

    @Test(
        "After a move that was interrupted, and whose zone is deleted, the first records have the rows again"
    )
    func interruptedMove() async throws {
        try await run { zone, graph in
            try await zone.device.run("UPDATE Post SET local = 'mine'")
            _ = try? await zone.phone.share(graph.blog) { throw CancellationError() }
            try await zone.device.store.sync()
            #expect(try await zone.device.store.status.quarantined.count == 4)
            let zones = try await zone.phone.sharedZones()
            _ = try await zone.database.deleteRecordZone(withID: try #require(zones.first))
            try await zone.device.store.sync()
            try await expectRows(graph, zone.device)
            #expect(try await zone.device.text("SELECT local FROM Post") == "mine")
        }
    }

    @Test("Rows go with a zone that is deleted, and what was not sent is in the journal")
    func deletedZone() async throws {
        try await run { zone, graph in
            let share = try await zone.phone.share(graph.blog)
            try await zone.settle()
            try await zone.device.run("UPDATE Post SET title = 'Bread'")
            _ = try await zone.database.deleteRecordZone(withID: share.recordID.zoneID)
            try await zone.settle()
            #expect(try await zone.device.texts("SELECT recordName FROM Blog") == [graph.other])
            #expect(try await zone.device.texts("SELECT recordName FROM Post") == [])
            #expect(
                try await zone.device.store.journal().map(\.lost)
                    == [["CD_title": .text("Bread")]]
            )
            #expect(try await zone.device.store.verify().differences == [])
            #expect(try await zone.device.store.status.isSettled)
        }
    }

    // MARK: Another user

    @Test("A user who takes part sees, edits and adds what is shared, beside rows of their own")
    func participant() async throws {
        try await run { zone, graph in
            let bob = try await zone.cloud.addUser("Bob")
            let container = try await zone.cloud.device(of: bob)
            let phone = PhoneApp(container, prefix: "B")
            try await phone.setUp()
            let device = try await ModelDevice(
                try await zone.cloud.device(of: bob),
                includesSharedRows: true
            )
            try await device.run("INSERT INTO Blog (recordName, name) VALUES ('B1', 'Of Bob')")
            let share = try await zone.phone.share(graph.blog)
            let link = try #require(share.url)
            try await device.store.accept(container.shareMetadata(for: link))
            #expect(try await device.text("SELECT title || blog FROM Post") == "Milk" + graph.blog)
            #expect(
                try await device.texts("SELECT posts || tags FROM Post_tags")
                    == [graph.post + graph.tag]
            )
            try await device.run(
                """
                INSERT INTO Post (recordName, title, blog) VALUES ('P2', 'Of Bob', '\(graph.blog)');
                INSERT INTO Post_tags (recordName, posts, tags) VALUES ('L2', 'P2', '\(graph.tag)');
                INSERT INTO Tag (recordName, name) VALUES ('T2', 'Of Bob');
                UPDATE Post SET body = 'brown' WHERE recordName = '\(graph.post)';
                """
            )
            for _ in 0..<3 {
                try await device.store.sync()
                try await phone.sync()
                try await zone.settle()
            }
            #expect(await zone.phone.objects["P2"]?.links == ["blog": graph.blog])
            #expect(await zone.phone.targets("tags", "P2") == [graph.tag])
            #expect(await zone.phone.objects[graph.post]?.values["body"] == .text("brown"))
            #expect(await phone.objects["P2"]?.links == ["blog": graph.blog])
            #expect(
                try await names(PhoneApp.zoneID, in: container.privateCloudDatabase)
                    == ["B1", "T2"]
            )
            #expect(
                try await zone.device.texts("SELECT title FROM Post").sorted() == [
                    "Milk", "Of Bob",
                ]
            )
            for device in [device, zone.device] {
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.status.isSettled)
            }
            // The owner shares no longer: what was shared goes, and their own rows stay.
            try await zone.phone.stopSharing(share.recordID.zoneID)
            try await zone.settle()
            try await device.store.sync()
            #expect(try await device.texts("SELECT recordName FROM Blog") == ["B1"])
            #expect(try await device.texts("SELECT recordName FROM Post") == [])
            #expect(try await zone.device.texts("SELECT recordName FROM Post").count == 2)
        }
    }

    @Test("Rows that were converted from what another user shares never become the user's own")
    func converted() async throws {
        try await run { zone, graph in
            let share = try await zone.phone.share(graph.blog)
            let bob = try await zone.cloud.addUser("Bob")
            let container = try await zone.cloud.device(of: bob)
            try await PhoneApp(container).setUp()
            _ = try await container.accept(
                container.shareMetadata(for: try #require(share.url))
            )
            let database = try DatabaseQueue()
            let model = try PhoneModel.model()
            let (name, owner) = (share.recordID.zoneID.zoneName, zone.user.recordName)
            try await database.write { database in
                try CoreDataTables(model: model).create(in: database)
                try database.execute(
                    sql: """
                        CREATE TABLE coreDataZone (
                            id INTEGER PRIMARY KEY, name TEXT, owner TEXT, scope TEXT);
                        CREATE TABLE coreDataRecord (
                            recordName TEXT, zone INTEGER, tableName TEXT, state TEXT);
                        INSERT INTO coreDataZone VALUES (1, '\(name)', '\(owner)', 'shared');
                        INSERT INTO coreDataRecord VALUES
                            ('\(graph.blog)', 1, 'Blog', 'synced'),
                            ('\(graph.post)', 1, 'Post', 'synced');
                        INSERT INTO Blog (recordName, name) VALUES ('\(graph.blog)', 'Food');
                        INSERT INTO Post (recordName, title, body, blog)
                            VALUES ('\(graph.post)', 'Milk', 'white', '\(graph.blog)');
                        """
                )
            }
            let error = await #expect(throws: CloudStoreError.self) {
                _ = try await ModelDevice(container, database: database)
            }
            #expect(error?.message.contains("set includesSharedRows") == true)
            let device = try await ModelDevice(
                container,
                database: database,
                includesSharedRows: true
            )
            try await device.run("UPDATE Post SET title = 'Bread'")
            try await device.store.sync()
            #expect(try await names(PhoneApp.zoneID, in: container.privateCloudDatabase) == [])
            #expect(try await device.texts("SELECT title FROM Post") == ["Bread"])
            #expect(try await device.store.verify().differences == [])
            #expect(try await device.store.status.isSettled)
            try await zone.settle()
            #expect(try await zone.device.texts("SELECT title FROM Post") == ["Bread"])
        }
    }

    @Test(
        "What a user may only read is refused when it is edited, and a new row below it is taken back"
    )
    func readOnly() async throws {
        try await run { zone, graph in
            let bob = try await zone.cloud.addUser("Bob")
            let container = try await zone.cloud.device(of: bob)
            try await PhoneApp(container).setUp()
            let device = try await ModelDevice(container, includesSharedRows: true)
            let share = try await zone.phone.share(graph.blog, permission: .readOnly)
            try await device.store.accept(container.shareMetadata(for: try #require(share.url)))
            await #expect(throws: DatabaseError.self) {
                try await device.run("UPDATE Post SET title = 'x'")
            }
            try await device.run(
                "INSERT INTO Post (recordName, blog) VALUES ('P2', '\(graph.blog)')"
            )
            try await device.store.sync()
            try await device.store.sync()
            #expect(try await device.texts("SELECT recordName FROM Post") == [graph.post])
            #expect(try await device.store.journal().map(\.rule) == ["access"])
            #expect(try await device.store.status.isSettled)
        }
    }
}
