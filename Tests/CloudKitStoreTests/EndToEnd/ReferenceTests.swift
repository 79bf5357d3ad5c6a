import CloudKit
import CloudKitStore
import GRDB
import Support
import Testing

@Suite("References hold", .timeLimit(.minutes(10)))
struct ReferenceTests {
    @Test("A row refers to its parent's record, without an action that deletes on the server")
    func reference() async throws {
        try await withTwoDevices { phone, _, _ in
            try await phone.run("INSERT INTO folder (id) VALUES ('f')")
            try await phone.run("INSERT INTO note (id, folder) VALUES ('n', 'f')")
            try await phone.store.sync()
            let record = try await phone.cloud.record(for: Device.id("note:n"))
            let reference = try #require(record["folder"] as CKRecord.Reference?)
            #expect(reference.recordID.recordName == "folder:f")
            #expect(reference.action == .none)
        }
    }

    @Test("Changing only a reference is noticed")
    func onlyReference() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO folder (id) VALUES ('f'), ('g')")
            try await phone.run("INSERT INTO note (id, folder) VALUES ('n', 'f')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET folder = 'g'")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT folder FROM note") == "g")
        }
    }

    @Test("A tree whose children were inserted first goes up and comes down whole")
    func childrenFirst() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.database.write { database in
                try database.execute(sql: "PRAGMA defer_foreign_keys = ON")
                for i in (0..<30).reversed() {
                    try database.execute(
                        sql: "INSERT INTO folder (id, parent) VALUES (?, ?)",
                        arguments: ["f\(i)", i == 0 ? nil : "f\(i - 1)"]
                    )
                }
            }
            try await settle(phone, laptop)
            #expect(try await laptop.rows() == phone.rows())
            #expect(try await laptop.rows().count == 30)
        }
    }

    @Test("Rows that refer to each other and to themselves travel")
    func circle() async throws {
        let schema = """
            CREATE TABLE person (
                id TEXT PRIMARY KEY NOT NULL, name TEXT,
                partner TEXT REFERENCES person (id) DEFERRABLE INITIALLY DEFERRED
            );
            """
        try await withTwoDevices(tables: [.table("person")], schema: schema) { phone, laptop, _ in
            try await phone.run(
                "INSERT INTO person VALUES ('a', 'A', 'b'), ('b', 'B', 'a'), ('c', 'C', 'c')"
            )
            try await phone.store.settled()
            try await laptop.store.settled()
            #expect(try await laptop.rows(["person"]) == phone.rows(["person"]))
            #expect(try await laptop.value("SELECT partner FROM person WHERE id = 'a'") == "b")
            #expect(try await laptop.value("SELECT partner FROM person WHERE id = 'b'") == "a")
        }
    }

    @Test("A child that comes without its parent waits, and shows when the parent comes")
    func earlyChild() async throws {
        let schema = """
            CREATE TABLE folder (id TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, title TEXT,
                folder TEXT NOT NULL REFERENCES folder (id));
            """
        let tables: [SyncedTable] = [.table("folder"), .table("note")]
        try await withTwoDevices(tables: tables, schema: schema) { phone, laptop, _ in
            try await phone.store.sync()
            let record = CKRecord(recordType: "note", recordID: Device.id("note:n"))
            record["title"] = "early"
            record["folder"] = CKRecord.Reference(
                recordID: Device.id("folder:f"),
                action: .none
            )
            try await phone.cloud.save(record)
            try await laptop.store.sync()
            #expect(try await laptop.rows(["note"]).isEmpty)
            #expect(try await laptop.store.status.waitingForParents == 1)
            #expect(
                try await laptop.store.state(of: "n", in: "note")
                    == .waitingForParent(recordName: "folder:f")
            )
            #expect(
                try await laptop.store.status.explanation
                    == [
                        "The row 'n' of 'note' waits for the record 'folder:f', which has not arrived."
                    ]
            )
            try await phone.run("INSERT INTO folder VALUES ('f')")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT title FROM note") == "early")
            #expect(try await laptop.rows(["note"]) == phone.rows(["note"]))
            #expect(try await laptop.store.status.isSettled)
        }
    }

    @Test("A child whose reference may be NULL shows without it until the parent comes")
    func earlyOptionalChild() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.store.sync()
            let record = CKRecord(recordType: "note", recordID: Device.id("note:n"))
            record["title"] = "early"
            record["folder"] = CKRecord.Reference(recordID: Device.id("folder:f"), action: .none)
            try await phone.cloud.save(record)
            try await laptop.store.sync()
            #expect(try await laptop.value("SELECT title FROM note") == "early")
            #expect(try await laptop.value("SELECT folder FROM note") == nil)
            #expect(try await laptop.store.status.waitingToSend == 0)
            try await phone.run("INSERT INTO folder (id) VALUES ('f')")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT folder FROM note") == "f")
        }
    }

    @Test("A reference that waits for its parent is not cleared by rows being sent into a new zone")
    func earlyOptionalChildInNewZone() async throws {
        try await CloudFixture.inProcess.run { cloud in
            var configuration = Device.configuration
            configuration.whenZoneIsDeleted = .upload
            let phone = try await Device(cloud, cloud.addUser(), configuration: configuration)
            try await phone.store.sync()
            let record = CKRecord(recordType: "note", recordID: Device.id("note:n"))
            record["title"] = "early"
            record["folder"] = CKRecord.Reference(recordID: Device.id("folder:f"), action: .none)
            try await phone.cloud.save(record)
            try await phone.store.sync()
            #expect(try await phone.value("SELECT folder FROM note") == nil)
            _ = try await phone.cloud.deleteRecordZone(withID: Device.zoneID)
            try await settle(phone)
            let sent = try await phone.cloud.record(for: Device.id("note:n"))
            let reference = try #require(sent["folder"] as CKRecord.Reference?)
            #expect(reference.recordID.recordName == "folder:f")
            #expect(try await phone.store.verify().differences.isEmpty)
        }
    }

    @Test("Deleting a parent takes its children along everywhere, and clears references")
    func cascade() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run(
                """
                INSERT INTO folder (id, parent) VALUES ('a', NULL), ('b', 'a'), ('c', NULL);
                INSERT INTO note (id, folder) VALUES ('n', 'b'), ('m', 'c');
                """
            )
            try await settle(phone, laptop)
            try await laptop.run("DELETE FROM folder WHERE id = 'a'")
            try await settle(laptop, phone)
            #expect(try await phone.rows() == laptop.rows())
            #expect(try await phone.value("SELECT group_concat(id) FROM folder") == "c")
            #expect(try await phone.value("SELECT folder FROM note WHERE id = 'n'") == nil)
            #expect(try await phone.store.verify().differences.isEmpty)
        }
    }

    @Test("An unsent row that goes with its parent is in the journal", arguments: [true, false])
    func cascadeOverEdit(_ deletionIsFirst: Bool) async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO folder (id) VALUES ('a')")
            try await settle(phone, laptop)
            try await phone.run("DELETE FROM folder")
            try await laptop.run("INSERT INTO folder (id, name, parent) VALUES ('b', 'new', 'a')")
            if deletionIsFirst {
                try await settle(phone, laptop)
                let lost = try await laptop.store.journal()
                #expect(lost.contains { $0.rule == "cascade" && $0.lost["name"] == .text("new") })
            } else {
                try await settle(laptop, phone)
            }
            #expect(try await phone.rows() == laptop.rows())
            #expect(try await phone.store.verify().differences.isEmpty)
            #expect(try await laptop.store.verify().differences.isEmpty)
        }
    }

    @Test("A deleted row that another device still needs comes back", arguments: [true, false])
    func restricted(_ deletionIsFirst: Bool) async throws {
        let schema = """
            CREATE TABLE folder (id TEXT PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL,
                folder TEXT NOT NULL REFERENCES folder (id) ON DELETE RESTRICT);
            """
        let tables: [SyncedTable] = [.table("folder"), .table("note")]
        try await withTwoDevices(tables: tables, schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO folder VALUES ('f', 'F')")
            try await settle(phone, laptop)
            try await phone.run("DELETE FROM folder")
            try await laptop.run("INSERT INTO note VALUES ('n', 'f')")
            if deletionIsFirst {
                try await settle(phone, laptop)
            } else {
                try await settle(laptop, phone)
                try await settle(laptop, phone)
            }
            #expect(try await phone.rows() == laptop.rows())
            #expect(try await phone.rows().count == 2)
            #expect(try await phone.value("SELECT name FROM folder") == "F")
        }
    }

    @Test("So do the rows that it would have gone with", arguments: [true, false])
    func restrictedBelow(_ deletionIsFirst: Bool) async throws {
        let schema = """
            CREATE TABLE folder (id TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE note (
                id TEXT PRIMARY KEY NOT NULL, folder TEXT REFERENCES folder (id) ON DELETE CASCADE
            );
            CREATE TABLE pin (
                id TEXT PRIMARY KEY NOT NULL, note TEXT NOT NULL REFERENCES note (id)
            );
            """
        let tables: [SyncedTable] = [.table("folder"), .table("note"), .table("pin")]
        try await withTwoDevices(tables: tables, schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO folder VALUES ('f')")
            try await phone.run("INSERT INTO note VALUES ('n', 'f')")
            try await settle(phone, laptop)
            try await phone.run("DELETE FROM folder WHERE id = 'f'")
            try await laptop.run("INSERT INTO pin VALUES ('p', 'n')")
            if deletionIsFirst { try await settle(phone, laptop) }
            try await settle(laptop, phone)
            for device in [phone, laptop] {
                for table in ["folder", "note", "pin"] {
                    #expect(try await device.value("SELECT count(*) FROM \(table)") == "1")
                }
                try await device.store.settled()
            }
        }
    }

    @Test("Many to many: a table with a composite key of two references")
    func manyToMany() async throws {
        let schema = """
            CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE tag (id TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE tagging (
                note TEXT NOT NULL REFERENCES note (id) ON DELETE CASCADE,
                tag TEXT NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
                position REAL, PRIMARY KEY (note, tag)
            ) WITHOUT ROWID;
            """
        let tables: [SyncedTable] = [.table("tagging"), .table("note"), .table("tag")]
        try await withTwoDevices(tables: tables, schema: schema) { phone, laptop, _ in
            try await phone.run(
                """
                INSERT INTO note VALUES ('n, 1'), ('n"2');
                INSERT INTO tag VALUES ('t'), ('ü');
                INSERT INTO tagging VALUES ('n, 1', 't', 1), ('n, 1', 'ü', 2), ('n"2', 't', 1.5);
                """
            )
            try await settle(phone, laptop)
            #expect(try await laptop.rows(["tagging"]) == phone.rows(["tagging"]))
            #expect(try await laptop.rows(["tagging"]).count == 3)
            try await laptop.run("DELETE FROM tag WHERE id = 't'")
            try await phone.run("UPDATE tagging SET position = 0.5 WHERE tag = 'ü'")
            try await settle(laptop, phone)
            #expect(try await phone.rows(["tagging"]) == laptop.rows(["tagging"]))
            #expect(try await phone.rows(["tagging"]).count == 1)
            // Both devices create the same pair, which is one row.
            try await phone.run("INSERT INTO tagging VALUES ('n\"2', 'ü', 1)")
            try await laptop.run("INSERT INTO tagging VALUES ('n\"2', 'ü', 1)")
            try await settle(phone, laptop)
            #expect(try await phone.rows(["tagging"]) == laptop.rows(["tagging"]))
            #expect(try await phone.rows(["tagging"]).count == 2)
        }
    }
}
