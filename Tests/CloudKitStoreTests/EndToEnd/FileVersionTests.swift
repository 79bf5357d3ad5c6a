import CloudKit
import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

/// The file in `Fixtures` was written by the store when its tables had version 4: with rows that
/// were synced, edited, deleted and inserted, a save without a response, records of an unknown
/// type, of another client and of no row.
@Suite("Files of earlier versions of the store", .timeLimit(.minutes(5)))
struct FileVersionTests {
    /// Opens a copy of the file, which may be converted to an even older version.
    private func withFile(
        turnedInto version: Int = 4,
        _ body: @Sendable (Device) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "version-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/version-4.sqlite")
        let file = folder.appending(path: "notes.sqlite")
        try FileManager.default.copyItem(at: fixture, to: file)
        let database = try DatabaseQueue(path: file.path)
        if version < 4 { try await database.write { try OldFile.turn($0, into: version) } }
        try await CloudFixture.inProcess.run { cloud in
            let device = try await Device(cloud, nil, database: database)
            try await body(device)
            await device.store.stop()
        }
        try database.close()
    }

    private func fields(_ device: Device, _ key: String) async throws -> [String] {
        let record = try await device.store.record(of: key, in: "note")
        return record.allKeys().filter { $0 != "storeStamp" }.sorted()
            .map { "\($0)=\(record[$0].map { "\($0)" } ?? "")" }
    }

    @Test("Records are as they were, with what rows and record agree on", arguments: 1...4)
    func records(version: Int) async throws {
        try await withFile(turnedInto: version) { device in
            let record = try await device.store.record(of: "synced", in: "note")
            #expect(record.recordChangeTag == "b")
            #expect(record.recordID.zoneID == Device.zoneID)
            #expect(record.creationDate == Date(timeIntervalSince1970: 1_795_517_064.023))
            #expect(record.modificationDate == Date(timeIntervalSince1970: 1_795_517_064.11))
            #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
            #expect(
                record["storeStamp"] as String? == "db8sxb06pp=hogh5h0v5v,lfts9g4fgn=hogh5h31v4;"
                    + "0.hogh5gxv4w=count,folder,id,tags,title;1.hogh5h2y08=body"
            )
            let reference = record["folder"] as CKRecord.Reference?
            #expect(reference?.recordID == Device.id("folder:f"))
            #expect(record["extra"] as String? == "of another app")
            #expect(record["tags"] as [String]? == ["a", "b"])
            #expect(record["body"] as String? == "from the laptop")
            #expect(
                try await fields(device, "a key, with %") == [
                    "count=0", "id=a key, with %", "title=Odd",
                ]
            )
            #expect(
                try await fields(device, "written")
                    == ["body=2.5", "id=written", "storeForms=count=5:tmanytitle=5:bAP8="]
            )
            // Unsent edits are merged with the previous values.
            let edited = try await device.store.record(of: "edited", in: "note")
            #expect(edited["count"] as Int64? == 10)
            for key in ["F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11"] {
                for (key, name) in [(key, "upper"), (key.lowercased(), "lower")] {
                    let record = try await device.store.record(of: key, in: "folder")
                    #expect(record["name"] as String? == name)
                    #expect(record.recordID.recordName == "folder:\(key)")
                }
            }
        }
    }

    @Test("What waits goes on waiting, and nothing else does")
    func waiting() async throws {
        try await withFile { device in
            let entries = try await device.database.read { database in
                try Row.fetchAll(
                    database,
                    sql: "SELECT key, deleted, changed FROM grdb_cloudkit_outbox ORDER BY key"
                ).map {
                    "\($0["key"] as String) \($0["deleted"] as Int) \($0["changed"] as String)"
                }
            }
            #expect(entries.count == 4)
            #expect(entries.first == "deleted 1 {}")
            #expect(entries.last == #"sent 0 {"title":1795517064271000}"#)
            #expect(try await device.store.verifyLocally().differences == [])
            let status = try await device.store.status
            #expect(status.waitingToSend == 4)
            #expect(status.quarantined.map(\.reason).first?.contains("no name of a note") == true)
            let saves = try await device.database.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM grdb_cloudkit_sent")
            }
            #expect(saves == 2)
        }
    }

    @Test(
        "The journal of a file of an earlier version says whose row an entry is of",
        arguments: 1...4
    )
    func journal(version: Int) async throws {
        try await withFile(turnedInto: version) { device in
            // The file is opened once more, with what the first opening added.
            _ = try CloudStore(
                database: device.database,
                container: device.container,
                tables: Device.notes,
                configuration: Device.configuration
            )
            let columns = try await device.database.read {
                try $0.columns(in: "grdb_cloudkit_journal").map(\.name)
            }
            #expect(columns.filter { $0 == "zone" }.count == 1)
        }
    }

    @Test("The file takes less than before")
    func size() async throws {
        let before = try DatabaseQueue(
            path: URL(filePath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "Fixtures/version-4.sqlite").path,
            configuration: {
                var configuration = Configuration()
                configuration.readonly = true
                return configuration
            }()
        )
        let sql =
            "SELECT sum(length(name) + length(system) + length(base)) FROM grdb_cloudkit_record"
        let old = try await before.read { try Int.fetchOne($0, sql: sql) ?? 0 }
        try await withFile { device in
            let new = try await device.database.read { try Int.fetchOne($0, sql: sql) ?? 0 }
            #expect(new * 3 < old)
        }
    }
}

@Suite("What rows and records agree on is kept once", .timeLimit(.minutes(5)))
struct KeptOnceTests {
    private func bytes(_ device: Device) async throws -> Int {
        try await device.database.read {
            try Int.fetchOne($0, sql: "SELECT sum(length(base)) FROM grdb_cloudkit_record") ?? 0
        }
    }

    @Test("A long text is in the row alone, on the device that sent it and on others")
    func longText() async throws {
        try await withTwoDevices { phone, laptop, _ in
            let text = String(repeating: "long ", count: 1_000)
            try await phone.run("INSERT INTO note (id, body) VALUES ('n', ?)", [text])
            try await settle(phone, laptop)
            for device in [phone, laptop] { #expect(try await bytes(device) < 100) }
            try await laptop.run("UPDATE note SET body = body || '!'")
            try await settle(phone, laptop)
            for device in [phone, laptop] {
                #expect(try await bytes(device) < 100)
                #expect(try await device.value("SELECT body FROM note") == text + "!")
                #expect(try await device.store.verify().differences == [])
            }
        }
    }

    @Test("A record shows what row and record agree on, and what a counter needs")
    func record() async throws {
        try await withTwoDevices { phone, _, _ in
            try await phone.run(
                "INSERT INTO note (id, title, body, count) VALUES ('n', 'a long title', 'a long body', 7)"
            )
            try await phone.store.sync()
            try await phone.run("UPDATE note SET title = 'another title', count = 8")
            let record = try await phone.store.record(of: "n", in: "note")
            #expect(record["body"] as String? == "a long body")
            #expect(record["count"] as Int64? == 7)
            #expect(record["title"] as String? == nil)
        }
    }

    @Test("A change that no trigger saw is found, although the record's values are the row's")
    func unseen() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'a long title')")
            try await settle(phone, laptop)
            try await phone.run(
                """
                UPDATE grdb_cloudkit_control SET applying = 1;
                UPDATE note SET title = 'a longer title';
                UPDATE grdb_cloudkit_control SET applying = 0;
                """
            )
            let found = try await phone.store.verify(repairing: true)
            #expect(found.differences.map(\.kind) == [.unnotedEdit])
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT title FROM note") == "a longer title")
        }
    }

    @Test("A row that is gone without a trace comes again with all its values")
    func missing() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run(
                "INSERT INTO note (id, title, body) VALUES ('n', 'a long title', 'a long body')"
            )
            try await settle(phone, laptop)
            try await phone.run(
                """
                UPDATE grdb_cloudkit_control SET applying = 1;
                DELETE FROM note;
                UPDATE grdb_cloudkit_control SET applying = 0;
                """
            )
            let found = try await phone.store.verify(repairing: true)
            #expect(found.differences.map(\.kind) == [.missingHere])
            #expect(
                try await phone.value("SELECT title || body FROM note") == "a long titlea long body"
            )
            #expect(try await phone.store.verify().differences == [])
        }
    }
}
