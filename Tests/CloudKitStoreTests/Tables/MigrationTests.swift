import CloudKitStore
import Foundation
import GRDB
import Support
import Synchronization
import Testing

@Suite("The store beside the app's migrations", .timeLimit(.minutes(5)))
struct MigrationTests {
    private static func migrator(_ schema: String) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("tables") { try $0.execute(sql: schema) }
        return migrator
    }

    @Test("eraseDatabaseOnSchemaChange erases nothing because of the store")
    func erasing() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let database = try DatabaseQueue()
            try Self.migrator(Device.schema).migrate(database)
            let first = try await Device(cloud, user, database: database)
            try await first.run("INSERT INTO folder (id) VALUES ('f')")
            try await first.store.sync()
            // Sharing has its own triggers.
            try await first.store.share("f", in: "folder")
            try await first.run("INSERT INTO note (id, title) VALUES ('n', 'unsent')")
            await first.store.stop()

            try Self.migrator(Device.schema).migrate(database)
            let second = try await Device(cloud, user, database: database)
            #expect(try await second.value("SELECT title FROM note") == "unsent")
            #expect(try await second.store.status.waitingToSend == 1)
            try await second.store.sync()
            await second.store.stop()

            // Everything is fetched again when that is intended.
            let other = Device.schema + "CREATE TABLE more (id TEXT PRIMARY KEY NOT NULL);"
            try Self.migrator(other).migrate(database)
            #expect(
                try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") }
                    == 0
            )
            let third = try await Device(cloud, user, database: database)
            try await third.store.sync()
            #expect(try await third.value("SELECT title FROM note") == "unsent")
            #expect(try await third.store.verify().differences == [])
        }
    }

    @Test("A database that was erased on purpose reports which unsent changes went with it")
    func erased() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "erased-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let path = folder.appending(path: "notes.sqlite").path
            let events = Mutex<[[RowChange]]>([])
            var configuration = Device.configuration
            configuration.onEvent = { event in
                if case .erased(let unsent) = event { events.withLock { $0.append(unsent) } }
            }
            func launch(_ schema: String) async throws -> Device {
                let database = try DatabaseQueue(path: path)
                try Self.migrator(schema).migrate(database)
                return try await Device(
                    cloud,
                    user,
                    database: database,
                    configuration: configuration
                )
            }
            let first = try await launch(Device.schema)
            try await first.run("INSERT INTO note (id, title) VALUES ('a', 'sent'), ('b', 'sent')")
            try await first.store.sync()
            try await first.run("UPDATE note SET title = 'unsent' WHERE id = 'a'")
            try await first.run("DELETE FROM note WHERE id = 'b'")
            await first.store.stop()
            // A file that is launched unchanged has lost nothing.
            let second = try await launch(Device.schema)
            #expect(events.withLock(\.self) == [])
            await second.store.stop()

            let third = try await launch(
                Device.schema + "CREATE TABLE more (id TEXT PRIMARY KEY NOT NULL);"
            )
            let told = events.withLock(\.self).map { rows in
                rows.map { "\($0.kind) \($0.table) \($0.key)" }
            }
            #expect(told == [["updated note a", "deleted note b"]])
            try await third.store.sync()
            let titles = try await third.value("SELECT group_concat(id || title) FROM note")
            #expect(titles == "asent,bsent")
            await third.store.stop()
            // Everything was sent, and there is nothing to report.
            let rest = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!rest.contains { $0.hasSuffix("-unsent") })
        }
    }

    @Test("A process that is killed right after a write leaves the names of what was not sent")
    func killed() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "killed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let path = folder.appending(path: "notes.sqlite").path
            let database = try DatabaseQueue(path: path)
            try await database.write { try $0.execute(sql: Device.schema) }
            let device = try await Device(cloud, user, database: database)
            try await device.run("INSERT INTO note (id, title) VALUES ('a', 'x'), ('b', 'x')")
            try await device.store.sync()
            // The list of what was sent is gone then, and not only a moment later.
            await device.store.stop()
            try await device.store.start()
            for (step, sql) in [
                "UPDATE note SET title = 'y' WHERE id = 'a'", "DELETE FROM note WHERE id = 'b'",
                "INSERT INTO note (id) VALUES ('c')", "DELETE FROM note WHERE id = 'a'",
            ].enumerated() {
                try await device.run(sql)
                // What is beside the database at this moment is all that a killed process leaves.
                let copy = folder.appending(path: "copy-\(step).sqlite").path
                try FileManager.default.copyItem(
                    atPath: path + "-cloudkit-unsent",
                    toPath: copy + "-cloudkit-unsent"
                )
                let events = Mutex<[RowChange]>([])
                var configuration = Device.configuration
                configuration.onEvent = { event in
                    if case .erased(let unsent) = event { events.withLock { $0 += unsent } }
                }
                let erased = try DatabaseQueue(path: copy)
                try await erased.write { try $0.execute(sql: Device.schema) }
                let next = try await Device(
                    cloud,
                    user,
                    database: erased,
                    configuration: configuration
                )
                let told = events.withLock(\.self).map { "\($0.kind) \($0.key)" }.sorted()
                let expected = [
                    ["updated a"], ["deleted b", "updated a"],
                    ["deleted b", "updated a", "updated c"],
                    ["deleted a", "deleted b", "updated c"],
                ]
                #expect(told == expected[step])
                await next.store.stop()
            }
            await device.store.stop()
        }
    }

    @Test("A database that another library synced is the store's once what noted changes is gone")
    func otherLibrary() async throws {
        let theirs = """
            CREATE TABLE sync_metadata (name TEXT PRIMARY KEY NOT NULL, fields BLOB);
            ALTER TABLE note ADD COLUMN is_dirty INTEGER NOT NULL DEFAULT 0;
            CREATE TRIGGER sync_note AFTER UPDATE OF title ON note BEGIN
                INSERT OR REPLACE INTO sync_metadata (name) VALUES (new.id);
                UPDATE note SET is_dirty = 1 WHERE id = new.id;
            END;
            INSERT INTO note (id, title) VALUES ('a', 'first');
            UPDATE note SET title = 'theirs' WHERE id = 'a';
            """
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let warnings = Mutex<[String]>([])
            var configuration = Device.configuration
            configuration.onEvent = { event in
                if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
            }
            let database = try DatabaseQueue()
            try await database.write { database in
                try database.execute(sql: Device.schema + theirs)
                // The triggers that the guide deletes.
                let triggers = try String.fetchAll(
                    database,
                    sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'"
                )
                for name in triggers { try database.execute(sql: "DROP TRIGGER \(name)") }
                try database.execute(
                    sql: "DROP TABLE sync_metadata; ALTER TABLE note DROP COLUMN is_dirty;"
                )
            }
            let old = try await Device(
                cloud,
                user,
                database: database,
                configuration: configuration
            )
            let new = try await Device(cloud, user)
            for device in [old, new] { try await device.store.sync() }
            #expect(warnings.withLock(\.self) == [])
            #expect(try await new.value("SELECT title FROM note") == "theirs")
            try await new.run("UPDATE note SET title = 'ours'")
            for device in [new, old, new] { try await device.store.sync() }
            #expect(try await old.value("SELECT title FROM note") == "ours")
            #expect(try await old.store.verify().differences == [])
            #expect(try await new.store.sync().received.isEmpty)
            for device in [old, new] { await device.store.stop() }
        }
    }
}
