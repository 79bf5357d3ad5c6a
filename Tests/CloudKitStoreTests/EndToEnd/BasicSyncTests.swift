import CloudKit
import CloudKitStore
import GRDB
import Support
import Testing

@Suite("Rows travel between devices", .timeLimit(.minutes(10)))
struct BasicSyncTests {
    @Test("Rows of one device appear on another", arguments: CloudFixture.allCases)
    func rows(_ fixture: CloudFixture) async throws {
        try await withTwoDevices(fixture) { phone, laptop, _ in
            try await phone.run("INSERT INTO folder (id, name) VALUES ('f', 'Work')")
            try await phone.run(
                "INSERT INTO note (id, title, folder, tags) VALUES ('n', 'Hi', 'f', '[\"a\",\"b\"]')"
            )
            let sent = try await phone.store.sync()
            #expect(sent.saved == 2)
            let received = try await laptop.store.sync()
            #expect(Set(received.received.map(\.key)) == ["f", "n"])
            #expect(received.received.allSatisfy { $0.kind == .inserted })
            #expect(try await laptop.rows() == phone.rows())
            #expect(try await laptop.rows().count == 2)
            try await phone.store.settled()
            try await laptop.store.settled()
        }
    }

    @Test("An update and a deletion reach the other device, once")
    func updateAndDelete() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A'), ('b', 'B')")
            try await settle(phone, laptop)
            try await laptop.run("UPDATE note SET title = 'A2', body = NULL WHERE id = 'a'")
            try await laptop.run("DELETE FROM note WHERE id = 'b'")
            let sent = try await laptop.store.sync()
            #expect((sent.saved, sent.deleted) == (1, 1))
            let received = try await phone.store.sync().received
            #expect(received.count == 2)
            #expect(received.contains { $0.kind == .updated && $0.key == "a" })
            #expect(received.contains { $0.kind == .deleted && $0.key == "b" })
            #expect(try await phone.rows() == laptop.rows())
            #expect(try await phone.store.sync() == SyncSummary())
        }
    }

    @Test("Rows that were there before the store are sent with the first sync")
    func existing() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let database = try DatabaseQueue()
            try await database.write { database in
                try database.execute(sql: Device.schema)
                try database.execute(sql: "INSERT INTO note (id, title) VALUES ('old', 'Old')")
            }
            let phone = try await Device(cloud, user, database: database)
            let laptop = try await Device(cloud, user)
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT title FROM note") == "Old")
        }
    }

    @Test("Four hundred rows and more go up and come down")
    func many() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 450)
                INSERT INTO note (id, title, count) SELECT 'n' || i, 'Note ' || i, i FROM n
                """
            )
            #expect(try await phone.store.sync().saved == 450)
            #expect(try await laptop.store.sync().received.count == 450)
            #expect(try await laptop.rows() == phone.rows())
        }
    }

    @Test("A column that is local only never leaves the device")
    func localOnly() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, draft) VALUES ('n', 'secret')")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT draft FROM note") == nil)
            try await phone.run("UPDATE note SET draft = 'other'")
            #expect(try await phone.store.status.waitingToSend == 0)
            let record = try await phone.cloud.record(for: Device.id("note:n"))
            #expect(!record.allKeys().contains("draft"))
        }
    }

    @Test("Inserted and deleted before a sync, a row never reaches the server")
    func shortLife() async throws {
        try await withTwoDevices { phone, _, _ in
            try await phone.run("INSERT INTO note (id) VALUES ('n')")
            try await phone.run("DELETE FROM note")
            #expect(try await phone.store.sync() == SyncSummary())
            #expect(try await phone.store.status.isSettled)
        }
    }

    @Test("Deleted and inserted again with the same key, a row stays")
    func reinsert() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'one')")
            try await settle(phone, laptop)
            try await phone.run("DELETE FROM note")
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'two')")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT title FROM note") == "two")
            #expect(try await phone.rows() == laptop.rows())
        }
    }

    @Test("A row whose key changes is another row everywhere")
    func rekey() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'one')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET id = 'm'")
            try await settle(phone, laptop)
            #expect(try await laptop.rows() == phone.rows())
            #expect(try await laptop.value("SELECT id FROM note") == "m")
        }
    }

    @Test("Setting a field to NULL is noted, whatever was changed before")
    func clearing() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO folder (id) VALUES ('f')")
            try await phone.run(
                "INSERT INTO note (id, body, folder) VALUES ('n', 'text', 'f')"
            )
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET body = 'more', title = 'T'")
            try await phone.run("UPDATE note SET body = NULL, folder = NULL")
            try await settle(phone, laptop)
            #expect(try await laptop.rows() == phone.rows())
            #expect(try await laptop.value("SELECT body FROM note") == nil)
            #expect(try await laptop.value("SELECT folder FROM note") == nil)
        }
    }

    @Test("Only the fields that changed are sent")
    func changedFields() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title, body) VALUES ('n', 't', 'b')")
            try await settle(phone, laptop)
            // Another client sets a field that the phone does not know yet.
            let record = try await laptop.cloud.record(for: Device.id("note:n"))
            record["colour"] = "red"
            try await laptop.cloud.save(record)
            try await phone.run("UPDATE note SET title = 't2'")
            try await settle(phone, laptop)
            let after = try await laptop.cloud.record(for: Device.id("note:n"))
            #expect(after["colour"] as String? == "red")
            #expect(after["title"] as String? == "t2")
        }
    }

    @Test("The record behind a row and the row behind a record are found")
    func records() async throws {
        try await withTwoDevices { phone, _, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n/1', 't')")
            await #expect(throws: CloudStoreError.self) {
                try await phone.store.record(of: "n/1", in: "note")
            }
            try await phone.store.sync()
            let record = try await phone.store.record(of: "n/1", in: "note")
            #expect(record["title"] as String? == "t")
            #expect(record.recordChangeTag != nil)
            let row = phone.store.row(behind: record.recordID)
            #expect(row?.table == "note")
            #expect(row?.key == "n/1")
        }
    }
}
