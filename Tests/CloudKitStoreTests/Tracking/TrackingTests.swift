import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

@Suite("Every write is seen, in the writer's own transaction", .timeLimit(.minutes(10)))
struct TrackingTests {
    /// Returns the outbox as text: table, key, whether deleted, changed fields.
    private func outbox(_ database: any DatabaseReader) async throws -> [String] {
        try await database.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM grdb_cloudkit_outbox ORDER BY tbl, key")
                .map {
                    let fields = try JSONDecoder()
                        .decode([String: Int64].self, from: $0["changed"] as Data)
                    return "\($0["tbl"] as String) \($0["key"] as String) "
                        + ($0["deleted"] ? "deleted" : fields.keys.sorted().joined(separator: ","))
                }
        }
    }

    private func withDevice(_ body: @Sendable (Device) async throws -> Void) async throws {
        try await CloudFixture.inProcess.run { cloud in
            try await body(Device(cloud, cloud.addUser()))
        }
    }

    @Test("Inserts, updates and deletions of many rows by one statement are noted")
    func bulk() async throws {
        try await withDevice { device in
            try await device.run("INSERT INTO folder (id) VALUES ('a'), ('b'), ('c')")
            #expect(
                try await outbox(device.database)
                    == ["a", "b", "c"].map { "folder \($0) id,name,parent" }
            )
            try await device.store.sync()
            try await device.run("UPDATE folder SET name = id")
            try await device.run("DELETE FROM folder WHERE id > 'a'")
            #expect(
                try await outbox(device.database)
                    == ["folder a name", "folder b deleted", "folder c deleted"]
            )
        }
    }

    @Test("Changes of one row are merged, field by field")
    func merged() async throws {
        try await withDevice { device in
            try await device.run("INSERT INTO note (id) VALUES ('n')")
            try await device.store.sync()
            try await device.run("UPDATE note SET title = 'a'")
            try await device.run("UPDATE note SET body = 'b', title = title")
            try await device.run("UPDATE note SET draft = 'x'")
            #expect(try await outbox(device.database) == ["note n body,title"])
        }
    }

    @Test("An update that changes nothing is no change")
    func noChange() async throws {
        try await withDevice { device in
            try await device.run("INSERT INTO note (id) VALUES ('n')")
            try await device.store.sync()
            try await device.run("UPDATE note SET title = title, body = NULL")
            #expect(try await outbox(device.database).isEmpty)
        }
    }

    @Test("A transaction that is rolled back leaves nothing")
    func rollback() async throws {
        try await withDevice { device in
            try await device.database.write { database in
                try database.inSavepoint {
                    try database.execute(sql: "INSERT INTO note (id) VALUES ('n')")
                    return .rollback
                }
            }
            #expect(try await outbox(device.database).isEmpty)
        }
    }

    @Test("Rows that go with their parent are noted too")
    func cascade() async throws {
        try await withDevice { device in
            try await device.run(
                """
                INSERT INTO folder (id, parent) VALUES ('a', NULL), ('b', 'a');
                INSERT INTO note (id, folder) VALUES ('n', 'b');
                """
            )
            try await device.store.sync()
            try await device.run("DELETE FROM folder WHERE id = 'a'")
            #expect(
                try await outbox(device.database)
                    == ["folder a deleted", "folder b deleted", "note n folder"]
            )
        }
    }

    @Test("A spelling that the column's collation calls equal is a change")
    func collation() async throws {
        let schema = "CREATE TABLE word (id TEXT PRIMARY KEY NOT NULL, w TEXT COLLATE NOCASE)"
        try await withTwoDevices(tables: [.table("word")], schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO word VALUES ('1', 'polish')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE word SET w = 'Polish'")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT w FROM word") == "Polish")
        }
    }

    @Test("A row without a key is refused where it is written")
    func nullKey() async throws {
        let schema = "CREATE TABLE word (id TEXT PRIMARY KEY, w TEXT)"
        try await withTwoDevices(tables: [.table("word")], schema: schema) { phone, _, _ in
            await #expect(throws: DatabaseError.self) {
                try await phone.run("INSERT INTO word (w) VALUES ('x')")
            }
        }
    }

    @Test("Another connection's plain writes are noted and sent")
    func otherConnection() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let path = folder.appending(path: "app.sqlite").path
            var patience = Configuration()
            patience.busyMode = .timeout(10)
            let first = try DatabaseQueue(path: path, configuration: patience)
            try await first.write { try $0.execute(sql: Device.schema) }
            let phone = try await Device(cloud, user, database: first)
            let laptop = try await Device(cloud, user)
            // A process that does not know the store.
            var patient = Configuration()
            patient.busyMode = .timeout(10)
            let second = try DatabaseQueue(path: path, configuration: patient)
            try await second.write {
                try $0.execute(sql: "INSERT INTO note (id, title) VALUES ('n', 'elsewhere')")
            }
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT title FROM note") == "elsewhere")
        }
    }

    @Test("A table with a hundred columns is tracked")
    func wide() async throws {
        let columns = (0..<100).map { "c\($0) INTEGER" }.joined(separator: ", ")
        let schema = "CREATE TABLE wide (id TEXT PRIMARY KEY NOT NULL, \(columns))"
        try await withTwoDevices(tables: [.table("wide")], schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO wide (id, c0, c99) VALUES ('w', 1, 2)")
            try await settle(phone, laptop)
            try await phone.run("UPDATE wide SET c98 = 3")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT c0 || c99 || c98 FROM wide") == "123")
        }
    }
}
