import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("What an upgrade does to rows of old versions", .timeLimit(.minutes(5)))
struct UpgradedDataTests {
    /// Opens a new file of a user with the given version of the app.
    private func open(
        _ cloud: Cloud,
        _ user: TestCloud.User?,
        _ tables: [SyncedTable],
        _ schema: String
    ) async throws -> Device {
        try await Device(cloud, user, tables: tables, schema: schema)
    }

    /// Migrates a device's file, and opens it with other tables.
    private func upgrade(
        _ device: Device,
        _ cloud: Cloud,
        _ user: TestCloud.User?,
        freeing table: String? = nil,
        _ migration: String,
        _ tables: [SyncedTable]
    ) async throws -> Device {
        await device.store.stop()
        try await device.database.write { database in
            if let table { try database.removeSyncTriggers(from: table) }
            try database.execute(sql: migration)
        }
        return try await Device(cloud, user, database: device.database, tables: tables)
    }

    // MARK: A late UNIQUE index

    private static let customers = """
        CREATE TABLE customer (id TEXT PRIMARY KEY NOT NULL, name TEXT);
        CREATE TABLE machine (
            id TEXT PRIMARY KEY NOT NULL, serial TEXT,
            customer TEXT NOT NULL REFERENCES customer (id) ON DELETE CASCADE
        );
        CREATE TABLE job (
            id TEXT PRIMARY KEY NOT NULL, title TEXT,
            machine TEXT NOT NULL REFERENCES machine (id) ON DELETE CASCADE
        );
        CREATE TABLE visit (
            customer TEXT NOT NULL REFERENCES customer (id) ON DELETE CASCADE, day TEXT NOT NULL,
            note TEXT, PRIMARY KEY (customer, day)
        );
        """
    private static let customerTables: [SyncedTable] = ["customer", "machine", "job", "visit"]
        .map { .table($0) }

    @Test("Rows below one that gives way to a late UNIQUE index are below the one that stays")
    func rowsBelow() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let tables = Self.customerTables
            let old = try await open(cloud, user, tables, Self.customers)
            let index = "CREATE UNIQUE INDEX customer_name ON customer (name);"
            let new = try await open(cloud, user, tables, Self.customers + index)
            try await old.run("INSERT INTO customer VALUES ('c4', 'Cleo')")
            try await settle(old, new)
            try await old.run(
                """
                INSERT INTO customer VALUES ('c5', 'Cleo');
                INSERT INTO machine VALUES ('m5', 'S5', 'c5');
                INSERT INTO job VALUES ('j5', 'precious', 'm5');
                INSERT INTO visit VALUES ('c5', 'monday', 'n');
                """
            )
            try await settle(old, new)
            for device in [old, new] {
                #expect(try await device.value("SELECT group_concat(id) FROM customer") == "c4")
                #expect(try await device.value("SELECT id || customer FROM machine") == "m5c4")
                #expect(try await device.value("SELECT id || machine FROM job") == "j5m5")
                #expect(
                    try await device.value(
                        "SELECT group_concat(customer || day || note) FROM visit"
                    )
                        == "c4mondayn"
                )
                try await device.store.settled()
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.verify().hidden == [])
            }
            #expect(try await new.store.journal().map(\.rule) == ["unique"])
        }
    }

    // MARK: Defaults

    @Test("NULL from an old version is the default of a column that allows none, on every device")
    func nullForDefault() async throws {
        let new = """
            CREATE TABLE new_part (id TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL DEFAULT -1);
            INSERT INTO new_part SELECT id, coalesce(size, -1) FROM part;
            DROP TABLE part;
            ALTER TABLE new_part RENAME TO part;
            """
        let old = "CREATE TABLE part (id TEXT PRIMARY KEY NOT NULL, size INTEGER);"
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await open(cloud, user, [.table("part")], old)
            let laptop = try await open(cloud, user, [.table("part")], old)
            try await phone.run("INSERT INTO part VALUES ('p', 5), ('q', 6)")
            try await settle(phone, laptop)
            let upgraded = try await upgrade(
                laptop,
                cloud,
                user,
                freeing: "part",
                new,
                [.table("part")]
            )
            #expect(try await upgraded.value("SELECT group_concat(size) FROM part") == "5,6")
            try await phone.run("UPDATE part SET size = NULL WHERE id = 'p'")
            try await settle(phone, upgraded)
            let fresh = try await open(cloud, user, [.table("part")], old + new)
            try await settle(fresh, upgraded)
            let later = try await upgrade(
                phone,
                cloud,
                user,
                freeing: "part",
                new,
                [.table("part")]
            )
            try await settle(later, upgraded, fresh)
            for device in [later, upgraded, fresh] {
                #expect(try await device.value("SELECT group_concat(size) FROM part") == "-1,6")
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.status.isSettled)
            }
        }
    }

    @Test("A field that another client clears is the column's default on every device")
    func clearedField() async throws {
        let schema =
            "CREATE TABLE book (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '?')"
        try await withTwoDevices(tables: [.table("book")], schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO book VALUES ('b', 'first')")
            try await phone.store.sync()
            let record = try await phone.cloud.record(for: Device.id("book:b"))
            record["title"] = nil
            _ = try await phone.cloud.modifyRecords(saving: [record], deleting: [])
            try await settle(phone, laptop)
            for device in [phone, laptop] {
                #expect(try await device.value("SELECT title FROM book") == "?")
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.sync().saved == 0)
            }
        }
    }

    // MARK: Names

    @Test(
        "A table that is renamed before its first sync keeps its rows, and the times of their edits"
    )
    func renamedBeforeSync() async throws {
        let old = "CREATE TABLE part (id TEXT PRIMARY KEY NOT NULL, name TEXT);"
        let new = "ALTER TABLE part RENAME TO component;"
        let rows = "INSERT INTO part VALUES ('a', 'shipped'), ('b', 'shipped');"
        for type in ["part", "Thing"] {
            let tables = [SyncedTable.table("component", recordType: type)]
            try await CloudFixture.inProcess.run { cloud in
                let user = try await cloud.addUser()
                let other = try await open(cloud, user, tables, old + rows + new)
                try await other.store.sync()
                let first = try await open(
                    cloud,
                    user,
                    [.table("part", recordType: type)],
                    old + rows
                )
                try await first.run("UPDATE part SET name = 'mine' WHERE id = 'a'")
                try await first.run("DELETE FROM part WHERE id = 'b'")
                try await first.run("INSERT INTO part VALUES ('c', 'new')")
                let upgraded = try await upgrade(first, cloud, user, new, tables)
                try await settle(upgraded, other)
                for device in [upgraded, other] {
                    let names = "SELECT name FROM component WHERE id IN ('a', 'c') ORDER BY id"
                    #expect(
                        try await device.value("SELECT group_concat(name) FROM (\(names))")
                            == "mine,new"
                    )
                    #expect(try await device.store.status.waitingToSend == 0)
                    try await device.store.settled()
                    #expect(try await device.store.verify().differences == [])
                }
            }
        }
    }

    @Test("An unsent edit of a column that a migration drops is in the journal")
    func droppedEdit() async throws {
        let schema = "CREATE TABLE person (id TEXT PRIMARY KEY NOT NULL, name TEXT, street TEXT);"
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let tables = [SyncedTable.table("person")]
            let phone = try await open(cloud, user, tables, schema)
            try await phone.run(
                "INSERT INTO person VALUES ('p', 'Ada', 'Dock'), ('q', 'Bo', 'Quay')"
            )
            try await phone.store.sync()
            try await phone.run("UPDATE person SET name = 'Ada L.', street = 'Pier' WHERE id = 'p'")
            try await phone.run("UPDATE person SET street = 'Lane' WHERE id = 'q'")
            let upgraded = try await upgrade(
                phone,
                cloud,
                user,
                freeing: "person",
                "ALTER TABLE person DROP COLUMN street",
                tables
            )
            let entries = try await upgraded.store.journal()
            #expect(entries.map(\.rule) == ["dropped", "dropped"])
            #expect(entries.map(\.key) == ["p", "q"])
            #expect(
                entries.map(\.lost) == [["street": .text("Pier")], ["street": .text("Lane")]]
            )
            try await upgraded.store.sync()
            try await upgraded.store.settled()
            let record = try await upgraded.cloud.record(for: Device.id("person:p"))
            #expect(record["name"] as String? == "Ada L.")
            #expect(record["street"] as String? == "Dock")
            #expect(try await upgraded.store.verify().differences == [])
        }
    }
}
