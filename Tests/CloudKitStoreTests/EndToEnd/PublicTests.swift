import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("Tables of the public database are synced by query", .timeLimit(.minutes(10)))
struct PublicTests {
    private static let schema = """
        CREATE TABLE news (id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE mine (id TEXT PRIMARY KEY NOT NULL, title TEXT);
        """
    private static let tables: [SyncedTable] = [
        .table("news", fieldRules: ["stars": .counter], database: .public), .table("mine"),
    ]

    private func device(
        _ cloud: Cloud,
        _ user: TestCloud.User?,
        sweeps: Bool = true
    ) async throws -> Device {
        var configuration = Device.configuration
        if sweeps { configuration.publicSweepInterval = .zero }
        return try await Device(
            cloud,
            user,
            tables: Self.tables,
            schema: Self.schema,
            configuration: configuration
        )
    }

    @Test("Every user sees the rows of a public table, and no one the private ones of another")
    func seen() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await device(cloud, cloud.addUser("Ada"))
            let bob = try await device(cloud, cloud.addUser("Bob"))
            try await ada.run("INSERT INTO news (id, title) VALUES ('a', 'Hello')")
            try await ada.run("INSERT INTO mine VALUES ('m', 'Ada''s')")
            try await settle(ada, bob)
            #expect(try await bob.rows(["news"]) == ada.rows(["news"]))
            #expect(try await bob.rows(["mine"]).isEmpty)
            let id = try await ada.store.recordID(of: "a", in: "news")
            let record = try await bob.container.publicCloudDatabase.record(for: id)
            #expect(record["title"] as String? == "Hello")
            try await ada.run("UPDATE news SET title = 'Hello again'")
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT title FROM news") == "Hello again")
            try await ada.store.settled()
            // A user who is not signed in may read.
            let anyone = try await device(cloud, nil)
            _ = try? await anyone.store.sync()
            #expect(try await anyone.rows(["news"]) == ada.rows(["news"]))
        }
    }

    @Test("Edits of two devices are merged as in the private database")
    func merged() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let (phone, laptop) = (try await device(cloud, user), try await device(cloud, user))
            try await phone.run("INSERT INTO news (id, title, stars) VALUES ('a', 'A', 1)")
            try await settle(phone, laptop)
            try await phone.run("UPDATE news SET title = 'phone', stars = stars + 1")
            try await laptop.run("UPDATE news SET stars = stars + 10")
            try await settle(phone, laptop)
            for device in [phone, laptop] {
                #expect(try await device.value("SELECT title || stars FROM news") == "phone12")
            }
        }
    }

    @Test("A deletion is found when all records are compared, and unsent edits bring a row back")
    func deleted() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let (phone, laptop) = (try await device(cloud, user), try await device(cloud, user))
            let seldom = try await device(cloud, user, sweeps: false)
            try await phone.run("INSERT INTO news (id) VALUES ('a'), ('b'), ('c')")
            try await settle(phone, laptop, seldom)
            try await laptop.run("UPDATE news SET title = 'edited' WHERE id = 'b'")
            try await phone.run("DELETE FROM news WHERE id <> 'c'")
            try await phone.store.sync()
            try await settle(laptop, phone)
            for device in [phone, laptop] {
                #expect(try await device.value("SELECT group_concat(id) FROM news") == "b,c")
            }
            try await seldom.store.sync()
            #expect(try await seldom.value("SELECT count(*) FROM news") == "3")
            try await seldom.store.refetchEverything()
            try await seldom.store.sync()
            #expect(try await seldom.rows(["news"]) == phone.rows(["news"]))
        }
    }

    @Test("A comparison with the server finds what differs in public tables, and repairs it")
    func verified() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let (phone, laptop) = (try await device(cloud, user), try await device(cloud, user))
            let seldom = try await device(cloud, user, sweeps: false)
            try await phone.run("INSERT INTO news (id, title) VALUES ('a', 'A'), ('b', 'B')")
            try await settle(phone, laptop, seldom)
            for device in [phone, laptop, seldom] {
                let found = try await device.store.verify()
                #expect(found.compared == 2)
                #expect(found.differences.isEmpty)
            }
            try await phone.run(
                """
                UPDATE news SET title = 'new' WHERE id = 'a';
                DELETE FROM news WHERE id = 'b';
                INSERT INTO news (id, title) VALUES ('c', 'C');
                """
            )
            try await settle(phone, laptop)
            let found = try await seldom.store.verify(repairing: true).differences
            let expected = [
                "news:a": Verification.Difference.Kind.otherVersion,
                "news:b": .missingOnServer, "news:c": .unknownHere,
            ]
            #expect(found.count == 3)
            #expect(found.allSatisfy { expected[$0.recordName] == $0.kind })
            #expect(try await seldom.store.verify().differences.isEmpty)
            #expect(try await seldom.rows(["news"]) == phone.rows(["news"]))
        }
    }

    @Test("Deletions are looked for in the store's own time, and after a clock was set back")
    func sweepInterval() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await device(cloud, user)
            let seldom = try await device(cloud, user, sweeps: false)
            let noon: Int64 = 1_700_000_000_000
            func setClock(_ milliseconds: Int64) async throws {
                try await seldom.run("UPDATE grdb_cloudkit_control SET wall = ?", [milliseconds])
            }
            try await setClock(noon)
            try await phone.run("INSERT INTO news (id) VALUES ('a'), ('b'), ('c')")
            try await settle(phone, seldom)
            try await phone.run("DELETE FROM news WHERE id = 'a'")
            try await phone.store.sync()
            try await setClock(noon + 86_399_000)
            try await seldom.store.sync()
            #expect(try await seldom.value("SELECT count(*) FROM news") == "3")
            try await setClock(noon + 86_400_000)
            try await seldom.store.sync()
            #expect(try await seldom.value("SELECT count(*) FROM news") == "2")
            try await phone.run("DELETE FROM news WHERE id = 'b'")
            try await phone.store.sync()
            try await setClock(noon)
            try await seldom.store.sync()
            #expect(try await seldom.value("SELECT count(*) FROM news") == "1")
        }
    }

    @Test("An edit that the user may not make is in the journal, and the row as the server has it")
    func refused() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await device(cloud, cloud.addUser("Ada"))
            let bob = try await device(cloud, cloud.addUser("Bob"))
            try await ada.run("INSERT INTO news (id, title) VALUES ('a', 'Ada''s')")
            try await settle(ada, bob)
            try await bob.run("UPDATE news SET title = 'Bob''s'")
            try await settle(bob, ada)
            #expect(try await bob.value("SELECT title FROM news") == "Ada's")
            #expect(try await ada.value("SELECT title FROM news") == "Ada's")
            let journal = try await bob.store.journal(of: "news")
            #expect(journal.map(\.rule) == ["access"])
            #expect(journal.first?.lost == ["title": .text("Bob's")])
            try await bob.store.settled()
        }
    }

    @Test("A table of one database cannot refer to one of the other")
    func references() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let error = await #expect(throws: CloudStoreError.self) {
                try await Device(
                    cloud,
                    user,
                    tables: [.table("news", database: .public), .table("mine")],
                    schema: """
                        CREATE TABLE mine (id TEXT PRIMARY KEY NOT NULL);
                        CREATE TABLE news (id TEXT PRIMARY KEY NOT NULL,
                            mine TEXT REFERENCES mine (id));
                        """
                )
            }
            #expect(error?.code == .unsyncedReference)
            #expect(error?.message.contains("in another database") == true)
        }
    }
}
