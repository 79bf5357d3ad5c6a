import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Synchronization
import Testing

@Suite("Zones, users and files come and go", .timeLimit(.minutes(10)))
struct LifeTests {
    @Test("When another device deletes the zone, synced rows go and unsent edits are sent again")
    func zoneDeleted() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A'), ('b', 'B')")
            try await settle(phone, laptop)
            try await laptop.run("UPDATE note SET title = 'edited' WHERE id = 'b'")
            try await phone.store.destroyZone()
            try await laptop.store.sync()
            try await laptop.store.sync()
            #expect(try await laptop.value("SELECT group_concat(id) FROM note") == "b")
            let record = try await laptop.cloud.record(for: Device.id("note:b"))
            #expect(record["title"] as String? == "edited")
        }
    }

    @Test("When the zone was deleted and made again between two fetches, synced rows go as well")
    func zoneReplaced() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A'), ('b', 'B')")
            try await settle(phone, laptop)
            try await laptop.run("UPDATE note SET title = 'edited' WHERE id = 'b'")
            _ = try await phone.cloud.deleteRecordZone(withID: Device.zoneID)
            try await phone.cloud.save(CKRecordZone(zoneID: Device.zoneID))
            try await settle(laptop)
            #expect(try await laptop.value("SELECT group_concat(id) FROM note") == "b")
            #expect(try await laptop.store.verify().differences.isEmpty)
        }
    }

    @Test("A destroyed zone is not made again until the app says so")
    func destroyed() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A')")
            try await phone.store.sync()
            try await phone.store.destroyZone()
            await #expect(throws: CloudStoreError.self) { try await phone.store.sync() }
            #expect(try await phone.store.status.obstacle == .zoneDestroyed)
            #expect(
                try await phone.cloud.allRecordZones().allSatisfy { $0.zoneID != Device.zoneID }
            )
            #expect(try await phone.rows().count == 1)
            try await phone.store.uploadEverything()
            try await settle(phone, laptop)
            #expect(try await laptop.rows() == phone.rows())
        }
    }

    @Test("A zone that is missing when rows are sent is made again, with all rows")
    func zoneMissing() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user)
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A')")
            try await phone.store.sync()
            var keeping = Device.configuration
            keeping.whenZoneIsDeleted = .upload
            await phone.store.stop()
            let again = try await Device(
                cloud,
                user,
                database: phone.database,
                configuration: keeping
            )
            _ = try await again.cloud.modifyRecordZones(saving: [], deleting: [Device.zoneID])
            try await again.run("INSERT INTO note (id, title) VALUES ('b', 'B')")
            try await again.store.sync()
            try await again.store.sync()
            let laptop = try await Device(cloud, user)
            try await laptop.store.sync()
            #expect(try await laptop.rows() == again.rows())
            #expect(try await laptop.rows().count == 2)
        }
    }

    @Test("Fetching everything again finds what was deleted elsewhere, and keeps unsent edits")
    func refetch() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run(
                "INSERT INTO note (id, title) VALUES ('a', 'A'), ('b', 'B'), ('c', 'C')"
            )
            try await settle(phone, laptop)
            try await laptop.run("DELETE FROM note WHERE id <> 'c'")
            try await laptop.store.sync()
            try await phone.run("UPDATE note SET body = 'unsent' WHERE id = 'b'")
            try await phone.store.refetchEverything()
            try await settle(phone, laptop)
            #expect(
                try await phone.value(
                    "SELECT group_concat(id) FROM (SELECT id FROM note "
                        + "ORDER BY id)"
                ) == "b,c"
            )
            #expect(try await phone.rows() == laptop.rows())
        }
    }

    @Test("Another user's account gets none of the rows, and the rows stay")
    func otherUser() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let (ada, bob) = (try await cloud.addUser("Ada"), try await cloud.addUser("Bob"))
            let phone = try await Device(cloud, ada)
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A')")
            try await phone.store.sync()
            try await phone.run("UPDATE note SET title = 'unsent'")
            await phone.store.stop()
            let switched = try await Device(cloud, bob, database: phone.database)
            await #expect(throws: CloudStoreError.self) { try await switched.store.sync() }
            #expect(try await switched.store.status.obstacle == .accountSwitched)
            let zones = try await switched.cloud.allRecordZones()
            #expect(zones.allSatisfy { $0.zoneID.zoneName != "CloudKitStore" })
            await switched.store.stop()
            // Ada signs in again.
            let back = try await Device(cloud, ada, database: phone.database)
            #expect(try await back.store.sync().saved == 1)
            await back.store.stop()
            // Alternatively, Bob takes the rows over.
            let adopted = try await Device(cloud, bob, database: phone.database)
            _ = try? await adopted.store.sync()
            try await adopted.store.adoptAccount()
            try await adopted.store.sync()
            let record = try await adopted.cloud.record(for: Device.id("note:a"))
            #expect(record["title"] as String? == "unsent")
        }
    }

    @Test("Without an account rows wait, and the error says so")
    func noAccount() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try DatabaseQueue()
            try await database.write { try $0.execute(sql: Device.schema) }
            let store = try CloudStore(
                database: database,
                container: try await cloud.device(of: nil),
                tables: Device.notes,
                configuration: Device.configuration
            )
            try await store.start()
            try await database.write { try $0.execute(sql: "INSERT INTO note (id) VALUES ('n')") }
            await #expect(throws: CKError.self) { try await store.sync() }
            #expect(try await store.status.waitingToSend == 1)
        }
    }

    @Test("A store opened again goes on where it was, without fetching everything")
    func reopened() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user)
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A')")
            try await phone.store.sync()
            await phone.store.stop()
            try await phone.run("UPDATE note SET title = 'while stopped'")
            let again = try await Device(cloud, user, database: phone.database)
            let summary = try await again.store.sync()
            #expect((summary.saved, summary.received.count) == (1, 0))
        }
    }

    @Test("Edits that an earlier version numbered alike are all sent when the file is opened again")
    func twins() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user)
            try await phone.run(
                "INSERT INTO folder (id) VALUES ('a'), ('b'); INSERT INTO note (id) VALUES ('a'), ('b')"
            )
            await phone.store.stop()
            try await phone.run(
                """
                UPDATE grdb_cloudkit_outbox SET version = clock - (key = 'a')
                FROM grdb_cloudkit_control
                """
            )
            var configuration = Device.configuration
            configuration.batchLimit = 2
            let again = try await Device(
                cloud,
                user,
                database: phone.database,
                configuration: configuration
            )
            #expect(try await again.store.sync().saved == 4)
            #expect(try await again.store.verify().compared == 4)
        }
    }

    @Test("Verifying finds what no trigger saw, and repairs it")
    func verify() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run(
                "INSERT INTO note (id, title) VALUES ('a', 'A'), ('b', 'B'), ('c', 'C')"
            )
            try await settle(phone, laptop)
            #expect(try await phone.store.verify().compared == 3)
            #expect(try await phone.store.verify().differences.isEmpty)
            // A file that was written to without the triggers.
            try await phone.run(
                """
                UPDATE grdb_cloudkit_control SET applying = 1;
                UPDATE note SET title = 'unnoted' WHERE id = 'a';
                DELETE FROM note WHERE id = 'b';
                UPDATE grdb_cloudkit_control SET applying = 0;
                """
            )
            let found = try await phone.store.verify(repairing: true).differences
            #expect(found.map(\.kind) == [.unnotedEdit, .missingHere])
            try await settle(phone, laptop)
            #expect(try await phone.store.verify().differences.isEmpty)
            #expect(try await phone.rows() == laptop.rows())
            #expect(
                try await laptop.value(
                    "SELECT group_concat(title) FROM (SELECT title FROM "
                        + "note ORDER BY id)"
                ) == "unnoted,B,C"
            )
        }
    }

    @Test("A store that syncs by itself sends what is written, and fetches when it starts")
    func automatic() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user, configuration: CloudStore.Configuration())
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'by itself')")
            try await phone.wait("SELECT count(*) FROM grdb_cloudkit_outbox", for: 0)
            let laptop = try await Device(cloud, user, configuration: CloudStore.Configuration())
            try await laptop.wait("SELECT count(*) FROM note", for: 1)
            #expect(try await laptop.value("SELECT title FROM note") == "by itself")
        }
    }

    @Test("A store that syncs by itself notices that its zone was made again")
    func automaticZone() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user, configuration: CloudStore.Configuration())
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A')")
            try await phone.wait("SELECT count(*) FROM grdb_cloudkit_outbox", for: 0)
            await phone.store.stop()
            _ = try await phone.cloud.deleteRecordZone(withID: Device.zoneID)
            try await phone.cloud.save(CKRecordZone(zoneID: Device.zoneID))
            try await phone.store.start()
            try await phone.wait("SELECT count(*) FROM note", for: 0)
        }
    }

    @Test("The stream of changes names the rows that others changed")
    func changes() async throws {
        try await withTwoDevices { phone, laptop, _ in
            let changes = laptop.store.changes
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'told')")
            try await settle(phone, laptop)
            for await change in changes {
                #expect(change.kind == .inserted)
                #expect((change.table, change.key) == ("note", "n"))
                break
            }
        }
    }
}
