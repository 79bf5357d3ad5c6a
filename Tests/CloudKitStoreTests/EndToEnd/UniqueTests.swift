import CloudKit
import CloudKitStore
import CloudKitWebClient
import GRDB
import Support
import Testing

@Suite("Two rows cannot have one UNIQUE value", .timeLimit(.minutes(10)))
struct UniqueTests {
    private static let schema = """
        CREATE TABLE tag (id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, colour TEXT);
        CREATE TABLE item (id TEXT PRIMARY KEY NOT NULL, title TEXT,
            tag TEXT NOT NULL REFERENCES tag (id) ON DELETE CASCADE);
        """
    private static let tables: [SyncedTable] = [.table("tag"), .table("item")]
    private static let names = ["tag", "item"]

    /// Checks that three devices hold the phone's tag and both items, regardless of earlier steps.
    private func check(_ cloud: Cloud, _ devices: [Device]) async throws {
        for _ in 0..<3 { for device in devices { try await device.store.sync() } }
        for device in devices {
            #expect(try await device.rows(Self.names) == devices[0].rows(Self.names))
            #expect(try await device.value("SELECT group_concat(id) FROM tag") == "p")
            #expect(try await device.value("SELECT group_concat(tag) FROM item") == "p,p")
            try await device.store.settled()
            #expect(try await device.store.verify().differences.isEmpty)
        }
    }

    @Test(
        "Of two new rows the one that the server had first stays; the other is in the journal",
        arguments: [true, false]
    )
    func inserted(bothAreSent: Bool) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let holder = TransportHolder()
            let phone = try await Device(cloud, user, tables: Self.tables, schema: Self.schema)
            let laptop = try await Device(
                cloud,
                user,
                tables: Self.tables,
                schema: Self.schema,
                transport: { holder.wrap($0) }
            )
            let tablet = try await Device(cloud, user, tables: Self.tables, schema: Self.schema)
            for device in [phone, laptop, tablet] { try await device.store.sync() }
            try await phone.run("INSERT INTO tag VALUES ('p', 'home', 'red')")
            try await phone.run("INSERT INTO item VALUES ('one', 'Broom', 'p')")
            try await laptop.run("INSERT INTO tag VALUES ('l', 'home', 'blue')")
            try await laptop.run("INSERT INTO item VALUES ('two', 'Mop', 'l')")
            if bothAreSent {
                holder.transport.before("records/modify") { try await phone.store.sync() }
                try await laptop.store.sync()
                try await tablet.store.sync()
            } else {
                try await phone.store.sync()
                try await laptop.store.sync()
            }
            try await check(cloud, [phone, laptop, tablet])
            let lost = try await laptop.store.journal(of: "tag", key: "l")
            #expect(lost.map(\.rule) == ["unique"])
            #expect(lost.first?.lost["colour"] == .text("blue"))
            #expect(lost.first?.kept?["colour"] == .text("red"))
        }
    }

    @Test(
        "A row that takes the UNIQUE value of a deleted one goes with the deletion",
        arguments: [1, 2, 3]
    )
    func replaced(batchLimit: Int) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let holder = TransportHolder()
            var configuration = Device.configuration
            configuration.batchLimit = batchLimit
            let phone = try await Device(
                cloud,
                user,
                tables: Self.tables,
                schema: Self.schema,
                configuration: configuration,
                transport: { holder.wrap($0) }
            )
            let laptop = try await Device(cloud, user, tables: Self.tables, schema: Self.schema)
            try await phone.run("INSERT INTO tag VALUES ('old', 'home', 'red')")
            try await phone.run("INSERT INTO item VALUES ('one', 'Broom', 'old')")
            try await settle(phone, laptop)
            try await phone.run(
                """
                INSERT INTO tag VALUES ('a', 'A', NULL), ('b', 'B', NULL), ('c', 'C', NULL);
                UPDATE item SET tag = 'a';
                DELETE FROM tag WHERE id = 'old';
                INSERT INTO tag VALUES ('new', 'home', 'blue');
                UPDATE item SET tag = 'new';
                """
            )
            for _ in 0..<8 {
                holder.transport.before("records/modify") { try await laptop.store.sync() }
            }
            try await settle(phone, laptop)
            #expect(try await laptop.rows(Self.names) == phone.rows(Self.names))
            #expect(try await laptop.value("SELECT tag FROM item") == "new")
            #expect(try await laptop.value("SELECT count(*) FROM tag") == "4")
            #expect(try await laptop.store.journal(of: "tag", key: "new").isEmpty)
        }
    }

    @Test("One day in two forms is two values, and one day in one form is one row")
    func days() async throws {
        let schema = "CREATE TABLE entry (id TEXT PRIMARY KEY NOT NULL, day DATE UNIQUE)"
        try await withTwoDevices(tables: [.table("entry")], schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO entry VALUES ('p', '2026-01-05'), ('q', '2026-01-06')")
            try await laptop.run(
                "INSERT INTO entry VALUES ('l', '2026-01-05 00:00:00.000'), ('m', '2026-01-06')"
            )
            try await settle(phone, laptop)
            for device in [phone, laptop] {
                #expect(try await device.value("SELECT group_concat(id) FROM entry") == "l,p,q")
                let day = "SELECT id FROM entry WHERE day = "
                #expect(try await device.value(day + "'2026-01-05'") == "p")
                #expect(try await device.value(day + "'2026-01-05 00:00:00.000'") == "l")
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.status.isSettled)
            }
        }
    }

    @Test("Two edits that make values equal are quarantined with the reason until one is changed")
    func edited() async throws {
        try await withTwoDevices(tables: Self.tables, schema: Self.schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO tag (id, name) VALUES ('p', 'a'), ('l', 'b')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE tag SET name = 'same' WHERE id = 'p'")
            try await laptop.run("UPDATE tag SET name = 'same' WHERE id = 'l'")
            try await phone.store.sync()
            try await laptop.store.sync()
            #expect(try await laptop.store.status.quarantined.map(\.key) == ["p"])
            #expect(
                try await laptop.store.status.quarantined.first?.reason.contains("violates")
                    == true
            )
            try await laptop.run("UPDATE tag SET name = 'other' WHERE id = 'l'")
            try await settle(laptop, phone)
            #expect(try await laptop.rows(["tag"]) == phone.rows(["tag"]))
            #expect(try await laptop.store.status.isSettled)
        }
    }

    @Test("Rows below one that cannot be written wait for it, and the rest goes on")
    func refusedParent() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user, tables: Self.tables, schema: Self.schema)
            let laptop = try await Device(
                cloud,
                user,
                tables: Self.tables,
                schema: Self.schema.replacing("name TEXT", with: "name TEXT CHECK (name <> '-')")
            )
            try await phone.run("INSERT INTO tag (id, name) VALUES ('bad', '-'), ('good', 'x')")
            try await phone.run("INSERT INTO item VALUES ('one', 'A', 'bad'), ('two', 'B', 'good')")
            try await phone.store.sync()
            try await laptop.store.sync()
            #expect(try await laptop.value("SELECT group_concat(id) FROM item") == "two")
            #expect(
                try await laptop.store.state(of: "one", in: "item")
                    == .waitingForParent(recordName: "tag:bad")
            )
            try await phone.run("UPDATE tag SET name = 'fine' WHERE id = 'bad'")
            try await settle(phone, laptop)
            #expect(try await laptop.rows(Self.names) == phone.rows(Self.names))
            try await laptop.store.settled()
        }
    }
}
