import CloudKitStore
import GRDB
import Support
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
            // Sharing has triggers of its own.
            try await first.store.share("f", in: "folder")
            try await first.run("INSERT INTO note (id, title) VALUES ('n', 'unsent')")
            await first.store.stop()

            try Self.migrator(Device.schema).migrate(database)
            let second = try await Device(cloud, user, database: database)
            #expect(try await second.value("SELECT title FROM note") == "unsent")
            #expect(try await second.store.status.waitingToSend == 1)
            try await second.store.sync()
            await second.store.stop()

            // Where it is meant, everything comes again.
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
}
