import CloudKit
import CloudKitStore
import GRDB
import Support
import Testing

@Suite("Old and new versions of an app share a zone", .timeLimit(.minutes(10)))
struct UpgradeTests {
    private static let oldSchema =
        "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '')"
    private static let newSchema = """
        CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '',
            colour TEXT, stars INTEGER NOT NULL DEFAULT 3);
        CREATE TABLE label (id TEXT PRIMARY KEY NOT NULL, name TEXT,
            note TEXT NOT NULL REFERENCES note (id));
        """

    private func withVersions(
        _ body:
            @Sendable (
                _ old: Device, _ new: Device,
                _ upgrade: @Sendable ([SyncedTable], String) async throws -> Device
            ) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let old = try await Device(
                cloud,
                user,
                tables: [.table("note")],
                schema: Self.oldSchema
            )
            let new = try await Device(
                cloud,
                user,
                tables: [.table("note"), .table("label")],
                schema: Self.newSchema
            )
            try await body(old, new) { tables, sql in
                await old.store.stop()
                try await old.run(sql)
                return try await Device(cloud, user, database: old.database, tables: tables)
            }
        }
    }

    @Test("What an old version does not know survives its edits, and shows after the upgrade")
    func unknown() async throws {
        try await withVersions { old, new, upgrade in
            try await new.run("INSERT INTO note VALUES ('n', 'new', 'red', 5)")
            try await new.run("INSERT INTO label VALUES ('l', 'Label', 'n')")
            try await settle(new, old)
            try await old.run("UPDATE note SET title = 'edited by the old one'")
            try await settle(old, new)
            #expect(try await new.value("SELECT colour || stars FROM note") == "red5")
            #expect(try await new.value("SELECT title FROM note") == "edited by the old one")
            let upgraded = try await upgrade(
                [.table("note"), .table("label")],
                """
                ALTER TABLE note ADD COLUMN colour TEXT;
                ALTER TABLE note ADD COLUMN stars INTEGER NOT NULL DEFAULT 3;
                CREATE TABLE label (id TEXT PRIMARY KEY NOT NULL, name TEXT,
                    note TEXT NOT NULL REFERENCES note (id));
                """
            )
            #expect(try await upgraded.rows(["note", "label"]) == new.rows(["note", "label"]))
            try await upgraded.store.settled()
        }
    }

    @Test("A row of an old version takes the defaults of a new one")
    func defaults() async throws {
        try await withVersions { old, new, _ in
            try await old.run("INSERT INTO note VALUES ('n', 'old')")
            try await settle(old, new)
            #expect(try await new.value("SELECT stars FROM note") == "3")
            try await new.run("UPDATE note SET stars = 4")
            try await old.run("UPDATE note SET title = 'older'")
            try await settle(old, new)
            #expect(try await new.value("SELECT stars || title FROM note") == "4older")
        }
    }

    @Test("A row that is made again after a deletion keeps what the old version does not know")
    func recreated() async throws {
        try await withVersions { old, new, _ in
            try await new.run("INSERT INTO note VALUES ('n', 'new', 'red', 5)")
            try await settle(new, old)
            try await new.run("DELETE FROM note")
            try await old.run("UPDATE note SET title = 'kept'")
            try await settle(new, old)
            try await settle(new, old)
            #expect(try await new.value("SELECT title || colour || stars FROM note") == "keptred5")
        }
    }

    @Test("A renamed column keeps its field")
    func renamed() async throws {
        try await withVersions { old, new, upgrade in
            try await new.run("INSERT INTO note (id, title) VALUES ('n', 'one')")
            try await settle(new, old)
            let upgraded = try await upgrade(
                [.table("note", fields: ["heading": "title"])],
                "ALTER TABLE note RENAME COLUMN title TO heading"
            )
            try await upgraded.run("UPDATE note SET heading = 'two'")
            try await settle(upgraded, new)
            #expect(try await new.value("SELECT title FROM note") == "two")
            try await new.run("UPDATE note SET title = 'three'")
            try await settle(new, upgraded)
            #expect(try await upgraded.value("SELECT heading FROM note") == "three")
        }
    }

    @Test("A table that a migration rebuilds loses nothing and sends what changed")
    func recreatedTable() async throws {
        try await withVersions { old, new, upgrade in
            try await old.run("INSERT INTO note VALUES ('a', 'A'), ('b', 'B'), ('c', 'C')")
            try await settle(old, new)
            let upgraded = try await upgrade(
                [.table("note")],
                """
                CREATE TABLE other (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '');
                INSERT INTO other SELECT id, title FROM note WHERE id <> 'c';
                DROP TABLE note;
                ALTER TABLE other RENAME TO note;
                UPDATE note SET title = 'A2' WHERE id = 'a';
                INSERT INTO note VALUES ('d', 'D');
                """
            )
            try await settle(upgraded, new)
            #expect(
                try await new.value(
                    "SELECT group_concat(title) FROM (SELECT title FROM note "
                        + "ORDER BY id)"
                ) == "A2,B,C,D"
            )
            #expect(try await upgraded.value("SELECT count(*) FROM note") == "4")
        }
    }
}
