import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Synchronization
import Testing

@Suite("Several devices, limits and the journal", .timeLimit(.minutes(10)))
struct ManyDevicesTests {
    @Test("Three devices edit one row offline, and all end with the same, whoever syncs first")
    func three() async throws {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            try await CloudFixture.inProcess.run { cloud in
                let user = try await cloud.addUser()
                let devices = [
                    try await Device(cloud, user), try await Device(cloud, user),
                    try await Device(cloud, user),
                ]
                try await devices[0].run(
                    "INSERT INTO note (id, title, count, tags) VALUES ('n', 't', 1, '[\"x\"]')"
                )
                for device in devices { try await device.store.sync() }
                try await devices[0].run("UPDATE note SET title = 'one', count = count + 1")
                try await devices[1].run(
                    "UPDATE note SET body = 'two', count = count + 10, tags = '[\"x\",\"y\"]'"
                )
                try await devices[2].run("UPDATE note SET count = count + 100, tags = '[\"z\"]'")
                try await devices[2].run("INSERT INTO note (id) VALUES ('new')")
                for _ in 0..<3 {
                    for place in order { try await devices[place].store.sync() }
                }
                for device in devices {
                    #expect(try await device.rows() == devices[0].rows())
                    #expect(
                        try await device.value(
                            "SELECT title || body || count || tags FROM note WHERE id = 'n'"
                        ) == #"onetwo112["y","z"]"#
                    )
                    try await device.store.settled()
                }
            }
        }
    }

    @Test("The smaller and the greater value win, whoever syncs first", arguments: [true, false])
    func extremes(firstIsPhone: Bool) async throws {
        let schema = "CREATE TABLE run (id TEXT PRIMARY KEY NOT NULL, best REAL, far INTEGER)"
        let tables: [SyncedTable] = [
            .table("run", fieldRules: ["best": .minimum, "far": .maximum])
        ]
        try await withTwoDevices(tables: tables, schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO run VALUES ('r', 10.5, 10)")
            try await settle(phone, laptop)
            try await phone.run("UPDATE run SET best = 9.25, far = 12")
            try await laptop.run("UPDATE run SET best = 9.75, far = 30")
            if firstIsPhone {
                try await settle(phone, laptop)
            } else {
                try await settle(laptop, phone)
            }
            for device in [phone, laptop] {
                #expect(try await device.value("SELECT best || ' ' || far FROM run") == "9.25 30")
                try await device.store.settled()
            }
        }
    }

    @Test("The journal forgets what is older than a date, and nothing else")
    func trim() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'base')")
            try await settle(phone, laptop)
            for title in ["first", "second"] {
                try await phone.run("UPDATE note SET title = 'phone \(title)'")
                try await laptop.run("UPDATE note SET title = 'laptop \(title)'")
                try await settle(phone, laptop)
            }
            let devices = [phone, laptop]
            var entries: [(device: Device, entry: JournalEntry)] = []
            for device in devices {
                entries += try await device.store.journal().map { (device, $0) }
            }
            #expect(entries.count == 2)
            let last = try #require(entries.max { $0.entry.date < $1.entry.date })
            for device in devices { try await device.store.trimJournal(before: last.entry.date) }
            #expect(try await last.device.store.journal() == [last.entry])
            for device in devices { try await device.store.trimJournal(before: .distantFuture) }
            #expect(try await last.device.store.journal().isEmpty)
            #expect(try await phone.rows() == laptop.rows())
        }
    }

    @Test("A batch limit beyond the service's is the service's, with parents in the batch too")
    func limit() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let holder = TransportHolder()
            var configuration = Device.configuration
            configuration.batchLimit = 500
            let phone = try await Device(
                cloud,
                user,
                configuration: configuration,
                transport: { holder.wrap($0) }
            )
            try await phone.store.sync()
            // Children first, so that each brings its parent into the batch.
            try await phone.database.writeWithoutTransaction { database in
                try database.execute(
                    sql: """
                        PRAGMA foreign_keys = OFF;
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
                        INSERT INTO note (id, folder) SELECT 'n' || i, 'f' || i FROM n;
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
                        INSERT INTO folder (id) SELECT 'f' || i FROM n;
                        PRAGMA foreign_keys = ON;
                        """
                )
            }
            try await phone.store.settled()
            let paths = holder.transport.script.withLock(\.paths)
            #expect(paths.count { $0.hasSuffix("records/modify") } == 3)
            let laptop = try await Device(cloud, user)
            try await laptop.store.sync()
            #expect(try await laptop.value("SELECT count(*) FROM note WHERE folder <> ''") == "250")
        }
    }

    @Test("A picture of a row that waited for its parent is there when the row is")
    func pictureOfWaitingRow() async throws {
        let schema = """
            CREATE TABLE album (id TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE photo (id TEXT PRIMARY KEY NOT NULL, small BLOB, large BLOB,
                album TEXT NOT NULL REFERENCES album (id));
            """
        let tables: [SyncedTable] = [
            .table("album"), .table("photo", assets: ["small": .withRow, "large": .onDemand]),
        ]
        try await withTwoDevices(tables: tables, schema: schema) { phone, laptop, _ in
            try await phone.store.sync()
            let file = FileManager.default.temporaryDirectory
                .appending(path: "picture-\(UUID().uuidString)")
            try Data(repeating: 7, count: 3000).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let record = CKRecord(recordType: "photo", recordID: Device.id("photo:p"))
            record["small"] = CKAsset(fileURL: file)
            record["large"] = CKAsset(fileURL: file)
            record["album"] = CKRecord.Reference(recordID: Device.id("album:a"), action: .none)
            try await phone.cloud.save(record)
            try await laptop.store.sync()
            #expect(try await laptop.rows(["photo"]).isEmpty)
            try await laptop.run("INSERT INTO album VALUES ('a')")
            try await settle(laptop)
            #expect(try await laptop.value("SELECT length(small) FROM photo") == "3000")
            #expect(try await laptop.value("SELECT length(large) FROM photo") == nil)
            try await laptop.store.settled()
        }
    }
}
