import CloudKitStore
import GRDB
import Support
import Testing

@Suite("Rows that the app ships with", .timeLimit(.minutes(5)))
struct PreloadedRowTests {
    private static let schema = """
        CREATE TABLE genre (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
        CREATE TABLE shipped (id TEXT PRIMARY KEY NOT NULL);
        """
    private static let rows = "INSERT INTO genre VALUES ('rock', 'Rock'), ('jazz', 'Jazz')"
    private static let tables: [SyncedTable] = [.table("genre"), .table("shipped")]

    private static func names(_ device: Device) async throws -> String? {
        try await device.value("SELECT group_concat(name) FROM (SELECT * FROM genre ORDER BY id)")
    }

    @Test("In every file from the start, they are one row, and give way to what was edited before")
    func edited() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            func install() async throws -> Device {
                try await Device(
                    cloud,
                    user,
                    tables: Self.tables,
                    schema: Self.schema + Self.rows
                )
            }
            let phone = try await install()
            try await phone.run("UPDATE genre SET name = 'Rock and Roll' WHERE id = 'rock'")
            try await phone.store.sync()
            let laptop = try await install()
            try await settle(laptop, phone)
            for device in [phone, laptop] {
                #expect(try await Self.names(device) == "Jazz,Rock and Roll")
                #expect(try await device.store.verify().differences == [])
            }
        }
    }

    @Test("In every file from the start, a deleted one returns with each installation")
    func returning() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            func install() async throws -> Device {
                try await Device(
                    cloud,
                    user,
                    tables: Self.tables,
                    schema: Self.schema + Self.rows
                )
            }
            let phone = try await install()
            try await phone.store.sync()
            try await phone.run("DELETE FROM genre WHERE id = 'rock'")
            try await phone.store.sync()
            // The service says nothing of a record that was deleted before a file's first fetch.
            let laptop = try await install()
            try await settle(laptop, phone)
            for device in [phone, laptop] { #expect(try await Self.names(device) == "Jazz,Rock") }
        }
    }

    @Test("Inserted after the first sync, unless a row says that they were, deleted ones stay away")
    func insertedOnce() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            func install(offline: Bool = false) async throws -> Device {
                let device = try await Device(
                    cloud,
                    user,
                    tables: Self.tables,
                    schema: Self.schema
                )
                if !offline { try await device.store.sync() }
                try await device.database.write { database in
                    let sql = "SELECT EXISTS (SELECT 1 FROM shipped WHERE id = 'genres 1')"
                    guard try Bool.fetchOne(database, sql: sql) == false else { return }
                    try database.execute(
                        sql: Self.rows + "; INSERT INTO shipped VALUES ('genres 1')"
                    )
                }
                return device
            }
            // Two that start without the other's rows have the same ones.
            let (phone, tablet) = (try await install(), try await install(offline: true))
            try await settle(phone, tablet)
            try await phone.run("DELETE FROM genre WHERE id = 'rock'")
            try await settle(phone, tablet)
            let laptop = try await install()
            try await settle(laptop, phone)
            for device in [phone, laptop] {
                #expect(try await Self.names(device) == "Jazz")
                #expect(try await device.store.verify().differences == [])
            }
        }
    }
}
