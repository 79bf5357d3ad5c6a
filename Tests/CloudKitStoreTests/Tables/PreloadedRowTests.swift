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

    private static let parts = """
        CREATE TABLE part (
            id TEXT PRIMARY KEY NOT NULL, stock INTEGER, most INTEGER, least INTEGER, own INTEGER, last INTEGER
        );
        INSERT INTO part VALUES ('bolt', 5, 5, 5, 5, 5);
        """
    private static let partTables: [SyncedTable] = [
        .table(
            "part",
            fieldRules: [
                "stock": .counter, "most": .maximum, "least": .minimum, "own": .client,
            ]
        )
    ]

    @Test(
        "In every file from the start, an installation changes none that it did not edit, whatever the rules"
    )
    func rules() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            func install() async throws -> Device {
                try await Device(cloud, user, tables: Self.partTables, schema: Self.parts)
            }
            let values =
                "SELECT stock || ' ' || most || ' ' || least || ' ' || own || ' ' || last FROM part"
            let phone = try await install()
            try await phone.store.sync()
            // Nobody has edited anything.
            let tablet = try await install()
            try await settle(tablet, phone)
            #expect(try await phone.value(values) == "5 5 5 5 5")
            try await phone.run("UPDATE part SET stock = 1, most = 2, least = 9, own = 3, last = 4")
            try await settle(phone, tablet)
            for _ in 0..<3 {
                let next = try await install()
                try await settle(next, phone)
                for device in [next, phone] {
                    #expect(try await device.value(values) == "1 2 9 3 4")
                    #expect(try await device.store.verify().differences == [])
                }
            }
        }
    }

    @Test("In every file from the start, an edit before the first sync is one of the shipped value")
    func editedEarly() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            func install() async throws -> Device {
                try await Device(cloud, user, tables: Self.partTables, schema: Self.parts)
            }
            let (phone, laptop) = (try await install(), try await install())
            try await phone.store.sync()
            try await laptop.run(
                "UPDATE part SET stock = 1, most = 2, least = 9, own = 3, last = 4"
            )
            try await settle(laptop, phone)
            for device in [phone, laptop] {
                let values =
                    "SELECT stock || ' ' || most || ' ' || least || ' ' || own || ' ' || last FROM part"
                #expect(try await device.value(values) == "1 2 9 3 4")
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
