import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Testing

/// The other client in these tests writes plain records into its own zone, with its own names and
/// without the store's additions.
@Suite("Records of an app that knows nothing of the store", .timeLimit(.minutes(5)))
struct ForeignRecordTests {
    private static let schema = """
        CREATE TABLE folder (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '');
        CREATE TABLE note (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT, made DATETIME,
            stars INTEGER, folder TEXT REFERENCES folder (id) ON DELETE CASCADE
        );
        """

    private static let tables: [SyncedTable] = [
        .table("folder", recordType: "Folder", recordNames: .key, fields: ["name": "Name"]),
        .table(
            "note",
            recordType: "Note",
            recordNames: .key,
            fields: [
                "title": "Title", "body": "Body", "made": "Made", "stars": "Stars",
                "folder": "Folder",
            ]
        ),
    ]

    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private static func id(_ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zoneID)
    }

    private static func note(_ name: String, _ title: String) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id(name))
        record["Title"] = title
        return record
    }

    /// Runs a test with a store and the other app's database.
    private func withStore(
        _ body: @Sendable (_ device: Device, _ other: CKDatabase) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let other = try await cloud.device(of: user).privateCloudDatabase
            _ = try await other.save(CKRecordZone(zoneID: Self.zoneID))
            var configuration = Device.configuration
            configuration.zoneName = Self.zoneID.zoneName
            let device = try await Device(
                cloud,
                user,
                tables: Self.tables,
                schema: Self.schema,
                configuration: configuration
            )
            try await body(device, other)
        }
    }

    @Test("A column's default is no edit of a record without a value, whatever the store missed")
    func defaultValue() async throws {
        try await withStore { device, other in
            _ = try await other.save(CKRecord(recordType: "Note", recordID: Self.id("n")))
            try await device.store.sync()
            #expect(try await device.value("SELECT title FROM note WHERE id = 'n'") == "")
            await device.store.stop()
            func reopen() async throws -> CloudStore {
                var configuration = Device.configuration
                configuration.zoneName = Self.zoneID.zoneName
                let store = try CloudStore(
                    database: device.database,
                    container: device.container,
                    tables: Self.tables,
                    configuration: configuration
                )
                try await store.start()
                return store
            }
            let untracked = "DROP TRIGGER grdb_cloudkit_update_note;"
            try await device.run(untracked)
            let second = try await reopen()
            #expect(try await second.status.waitingToSend == 0)
            await second.stop()
            // Other values are.
            try await device.run(untracked + "UPDATE note SET title = 'missed'")
            let third = try await reopen()
            try await third.sync()
            #expect(try await other.record(for: Self.id("n"))["Title"] as? String == "missed")
        }
    }

    @Test("Another app's records become rows with the records' names as keys, dates and references")
    func reading() async throws {
        try await withStore { device, other in
            let folder = CKRecord(recordType: "Folder", recordID: Self.id("Böses%,Folder".ascii))
            folder["Name"] = "Trips"
            let note = Self.note("9D3C1A60-6E0A-4F5B-8F0B-1F6C7D6A5E11", "Tent")
            note["Made"] = Date(timeIntervalSince1970: 1_700_000_000)
            note["Stars"] = 5
            note["Folder"] = CKRecord.Reference(recordID: folder.recordID, action: .deleteSelf)
            _ = try await other.modifyRecords(saving: [note, folder], deleting: [])
            try await device.store.sync()
            #expect(
                try await device.rows() == [
                    "folder id=\"\(folder.recordID.recordName)\" name=\"Trips\"",
                    "note id=\"9D3C1A60-6E0A-4F5B-8F0B-1F6C7D6A5E11\" title=\"Tent\" body=NULL "
                        + "made=\"2023-11-14 22:13:20.000\" stars=5 "
                        + "folder=\"\(folder.recordID.recordName)\"",
                ]
            )
            #expect(device.store.row(behind: note.recordID)?.table == "note")
            let id = try await device.store.recordID(of: note.recordID.recordName, in: "note")
            #expect(id == note.recordID)
            #expect(try await device.store.verify().differences == [])
            #expect(try await device.store.status.isSettled)
        }
    }

    @Test("What the store writes are records as the app writes them, and its own fields stay")
    func writing() async throws {
        try await withStore { device, other in
            let theirs = Self.note("theirs", "Tent")
            theirs["Unknown"] = "stays"
            _ = try await other.modifyRecords(saving: [theirs], deleting: [])
            try await device.store.sync()
            try await device.run(
                """
                INSERT INTO folder VALUES ('f', 'Trips');
                INSERT INTO note (id, title, made, folder)
                    VALUES ('ours', 'Stove', '2023-11-14 22:13:20.000', 'f');
                UPDATE note SET title = 'Big tent' WHERE id = 'theirs';
                """
            )
            try await device.store.sync()
            let ours = try await other.record(for: Self.id("ours"))
            #expect(ours.recordType == "Note")
            #expect(ours["Title"] as String? == "Stove")
            #expect(ours["Made"] as Date? == Date(timeIntervalSince1970: 1_700_000_000))
            #expect((ours["Folder"] as CKRecord.Reference?)?.recordID == Self.id("f"))
            // The key is the name, and not a field.
            #expect(
                Set(ours.allKeys()) == ["Title", "Made", "Folder", "storeStamp"]
            )
            let changed = try await other.record(for: Self.id("theirs"))
            #expect(changed["Title"] as String? == "Big tent")
            #expect(changed["Unknown"] as String? == "stays")
        }
    }

    @Test("Of an edit here and one by the app the later one wins, though the app stamps nothing")
    func conflict() async throws {
        try await withStore { device, other in
            let record = Self.note("n", "first")
            record["Body"] = "text"
            _ = try await other.modifyRecords(saving: [record], deleting: [])
            try await device.store.sync()
            // A device's clock is trusted within half a minute.
            try await device.setClock(seconds: -10)
            // The store stamps it once, so that there is a previous time.
            try await device.run("UPDATE note SET title = 'second'")
            try await device.store.sync()
            try await device.run("UPDATE note SET title = 'ours', stars = 3")
            let theirs = try await other.record(for: Self.id("n"))
            theirs["Title"] = "theirs"
            theirs["Body"] = nil
            _ = try await other.modifyRecords(saving: [theirs], deleting: [])
            try await settle(device)
            #expect(try await device.value("SELECT title || stars FROM note") == "theirs3")
            #expect(try await device.value("SELECT body FROM note") == nil)
            let entries = try await device.store.journal()
            #expect(entries.map(\.lost) == [["Title": .text("ours")]])
            // The reverse direction.
            let again = try await other.record(for: Self.id("n"))
            again["Title"] = "earlier"
            _ = try await other.modifyRecords(saving: [again], deleting: [])
            try await device.setClock(seconds: 10)
            try await device.run("UPDATE note SET title = 'later'")
            try await settle(device)
            #expect(try await other.record(for: Self.id("n"))["Title"] as String? == "later")
        }
    }

    @Test("Deletions go both ways")
    func deletions() async throws {
        try await withStore { device, other in
            let records = [Self.note("a", "A"), Self.note("b", "B")]
            _ = try await other.modifyRecords(saving: records, deleting: [])
            try await device.store.sync()
            try await other.deleteRecord(withID: Self.id("a"))
            try await device.run("DELETE FROM note WHERE id = 'b'")
            try await settle(device)
            #expect(try await device.rows() == [])
            await #expect(throws: CKError.self) { try await other.record(for: Self.id("b")) }
        }
    }

    @Test("A key that is no record name, or is another table's, is quarantined with its reason")
    func names() async throws {
        try await withStore { device, _ in
            try await device.run(
                """
                INSERT INTO folder VALUES ('same', 'F');
                INSERT INTO note (id, title) VALUES ('same', 'N'), ('_x', 'N'), ('fine', 'N');
                """
            )
            try await device.store.sync()
            let reasons = try await device.store.status.quarantined.map(\.reason)
            #expect(reasons.count == 2)
            #expect(reasons.contains { $0.contains("begin with '_'") })
            #expect(reasons.contains { $0.contains("that of a row of 'folder'") })
            #expect(try await device.store.state(of: "fine", in: "note") == .synced)
        }
    }

    @Test("A table whose key is no single text cannot name records by it")
    func refusal() async throws {
        let container = try await TestCloud().device(of: nil)
        let database = try DatabaseQueue()
        try await database.write {
            try $0.execute(sql: "CREATE TABLE item (id UUID PRIMARY KEY NOT NULL)")
        }
        let error = #expect(throws: CloudStoreError.self) {
            try CloudStore(
                database: database,
                container: container,
                tables: [.table("item", recordNames: .key)]
            )
        }
        #expect(error?.code == .unusableKey)
    }
}

extension Device {
    /// Sets the device's clock relative to the machine's.
    fileprivate func setClock(seconds: Double) async throws {
        let now = (Date.now.timeIntervalSince1970 + seconds) * 1000
        try await run("UPDATE grdb_cloudkit_control SET wall = ?, clock = 0", [Int64(now)])
    }
}

extension String {
    /// The text without characters that record names cannot have.
    fileprivate var ascii: String { String(unicodeScalars.filter(\.isASCII)) }
}
