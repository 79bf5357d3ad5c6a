import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

@Suite("Tables that SQLite numbers can be synced after a migration", .timeLimit(.minutes(5)))
struct IntegerKeyTests {
    private static let schema = """
        CREATE TABLE "artist" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL);
        CREATE TABLE album (
            id INTEGER NOT NULL PRIMARY KEY, -- the number, in this file alone
            title VARCHAR(160) NOT NULL UNIQUE CHECK (length(title) > 0),
            artist INTEGER NOT NULL DEFAULT NULL REFERENCES artist (id) ON DELETE CASCADE,
            length INTEGER GENERATED ALWAYS AS (length(title)) VIRTUAL
        );
        CREATE TABLE member (
            [id] INTEGER, name TEXT, /* above */ "boss" INTEGER, artist INT NOT NULL,
            PRIMARY KEY ("id" AUTOINCREMENT),
            FOREIGN KEY ("boss") REFERENCES member (id) ON DELETE SET NULL,
            FOREIGN KEY (artist) REFERENCES artist ON DELETE CASCADE
        );
        CREATE TABLE liked (
            artist INTEGER NOT NULL REFERENCES artist (id) ON DELETE CASCADE,
            album INTEGER NOT NULL REFERENCES album (id) ON DELETE CASCADE,
            stars INTEGER, PRIMARY KEY (artist, album)
        ) WITHOUT ROWID;
        CREATE TABLE log (text TEXT);
        CREATE INDEX albumOfArtist ON album (artist, title);
        CREATE VIEW everything AS
            SELECT a.name, b.title FROM album b JOIN artist a ON a.id = b.artist;
        CREATE VIEW broken AS SELECT * FROM lost;
        CREATE TRIGGER noted AFTER UPDATE OF title ON album
            BEGIN INSERT INTO log VALUES (OLD.title || ' ' || NEW.title); END;
        """

    private static let rows = """
        INSERT INTO artist VALUES (1, 'AC/DC'), (2, 'Accept'), (7, 'Apocalyptica');
        INSERT INTO album (id, title, artist) VALUES (1, 'For Those About To Rock', 1),
            (2, 'Balls to the Wall', 2), (4, 'Let There Be Rock', 1);
        INSERT INTO member VALUES (1, 'Angus', NULL, 1), (2, 'Malcolm', 1, 1);
        INSERT INTO liked VALUES (1, 4, 5), (2, 2, 3);
        """

    private static let names = ["artist", "album", "member"]
    private static let tables: [SyncedTable] = [
        .table("artist"), .table("album"), .table("member"), .table("liked"),
    ]
    private static let preloaded = ["artist": "id <= 7", "album": "id <= 4", "member": "id <= 2"]

    private static func file(_ sql: String = "") throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { database in
            try database.execute(sql: Self.schema)
            try database.create(virtualTable: "found", using: FTS5()) { table in
                table.synchronize(withTable: "album")
                table.column("title")
            }
            try database.execute(sql: rows + sql)
        }
        migrator.registerMigration("keys") { database in
            try database.replaceIntegerKeys(in: names, preloaded: preloaded)
        }
        try migrator.migrate(database)
        return database
    }

    @Test("Rows, references, indexes, triggers, views and full-text tables stay")
    func everythingStays() async throws {
        let database = try Self.file()
        try await database.write { database in
            func value(_ sql: String) throws -> String? { try String.fetchOne(database, sql: sql) }
            #expect(
                try value("SELECT group_concat(title) FROM everything WHERE name = 'AC/DC'")?
                    .contains("Let There Be Rock") == true
            )
            #expect(try value("SELECT count(*) FROM everything") == "3")
            #expect(
                try value(
                    """
                    SELECT b.name FROM member m JOIN member b ON b.id = m.boss
                    WHERE m.name = 'Malcolm'
                    """
                ) == "Angus"
            )
            #expect(
                try value(
                    """
                    SELECT group_concat(a.name || b.title || stars) FROM liked
                    JOIN artist a ON a.id = liked.artist JOIN album b ON b.id = liked.album
                    WHERE stars = 5
                    """
                ) == "AC/DCLet There Be Rock5"
            )
            for (table, column) in [
                ("artist", "id"), ("album", "id"), ("album", "artist"), ("member", "boss"),
                ("liked", "album"),
            ] {
                let type = "SELECT group_concat(DISTINCT typeof(\(column)) || length(\(column)))"
                #expect(
                    try value("\(type) FROM \(table) WHERE \(column) IS NOT NULL") == "text36"
                )
            }
            #expect(
                try value(
                    "SELECT count(*) FROM sqlite_master WHERE name = 'albumOfArtist' AND "
                        + "tbl_name = 'album'"
                ) == "1"
            )
            let found = "SELECT a.title FROM found JOIN album a ON a.rowid = found.rowid "
            #expect(try value(found + "WHERE found MATCH 'balls'") == "Balls to the Wall")
            try database.execute(sql: "UPDATE album SET title = 'Walls' WHERE title LIKE 'Balls%'")
            #expect(try value("SELECT text FROM log") == "Balls to the Wall Walls")
            #expect(try value(found + "WHERE found MATCH 'walls'") == "Walls")
            #expect(try value(found + "WHERE found MATCH 'balls'") == nil)
            try database.execute(sql: "DELETE FROM artist WHERE name = 'Accept'")
            #expect(try value("SELECT count(*) FROM album") == "2")
            #expect(throws: DatabaseError.self) {
                try database.execute(
                    sql: "INSERT INTO album (id, title, artist) VALUES ('x', '', 'y')"
                )
            }
            #expect(try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").isEmpty)
        }
    }

    @Test("A full-text table of FTS4 finds the rows as before, and new ones")
    func olderTextIndex() async throws {
        let database = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { database in
            try database.execute(sql: Self.schema)
            try database.create(virtualTable: "found", using: FTS4()) { table in
                table.synchronize(withTable: "album")
                table.column("title")
            }
            try database.execute(sql: Self.rows)
        }
        migrator.registerMigration("keys") { database in
            try database.replaceIntegerKeys(in: Self.names)
        }
        try migrator.migrate(database)
        try await database.write { database in
            func found(_ word: String) throws -> [String] {
                try String.fetchAll(
                    database,
                    sql: """
                        SELECT a.title FROM found JOIN album a ON a.rowid = found.docid
                        WHERE found MATCH ? AND found.title = a.title ORDER BY 1
                        """,
                    arguments: [word]
                )
            }
            #expect(try found("balls") == ["Balls to the Wall"])
            #expect(try found("rock") == ["For Those About To Rock", "Let There Be Rock"])
            try database.execute(
                sql: """
                    UPDATE album SET title = 'Walls' WHERE title LIKE 'Balls%';
                    DELETE FROM album WHERE title LIKE 'Let%';
                    INSERT INTO album (title, artist) SELECT 'Rock or Bust', id FROM artist LIMIT 1;
                    """
            )
            #expect(try found("walls") == ["Walls"])
            #expect(try found("balls") == [])
            #expect(try found("rock") == ["For Those About To Rock", "Rock or Bust"])
        }
    }

    /// A record of the app after the migration; its key was an `Int64?` before.
    private struct Artist: Codable, FetchableRecord, MutablePersistableRecord {
        static let databaseTableName = "artist"
        var id: String?
        var name: String
    }

    @Test("Rows that are inserted as before, without a key or with NULL, get one, and are synced")
    func newKeys() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            func device() async throws -> Device {
                try await Device(cloud, user, database: Self.file(), tables: Self.tables)
            }
            let (phone, laptop) = (try await device(), try await device())
            let inserted = try await phone.database.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO artist (name) VALUES ('none'), ('other');
                        INSERT INTO artist VALUES (NULL, 'NULL');
                        INSERT INTO album (title, artist) SELECT 'made', id FROM artist
                            WHERE name = 'NULL';
                        INSERT INTO member (name, artist) SELECT 'made', id FROM artist
                            WHERE name = 'NULL';
                        """
                )
                let artist = Artist(name: "record")
                return try artist.insertAndFetch(database)
            }
            let keys = try await phone.database.read {
                try String.fetchAll(
                    $0,
                    sql: """
                        SELECT id FROM artist WHERE name IN ('none', 'other', 'NULL', 'record')
                        UNION SELECT id FROM album WHERE title = 'made'
                        UNION SELECT id FROM member WHERE name = 'made'
                        """
                )
            }
            #expect(Set(keys).count == 6)
            #expect(keys.contains(try #require(inserted.id)))
            for key in keys {
                #expect(UUID(uuidString: key)?.uuidString == key)
                #expect(Array(key)[14] == "4" && "89AB".contains(Array(key)[19]))
            }
            try await settle(phone, laptop)
            for table in ["artist", "album", "member"] {
                #expect(try await phone.rows([table]) == laptop.rows([table]))
            }
            #expect(
                try await laptop.value("SELECT title FROM everything WHERE name = 'NULL'") == "made"
            )
            #expect(try await laptop.store.verify().differences == [])
        }
    }

    @Test("Rows that every device has are one row, and rows of one number made apart are two")
    func devices() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(
                cloud,
                user,
                database: Self.file("INSERT INTO artist VALUES (8, 'of the phone')"),
                tables: Self.tables
            )
            let laptop = try await Device(
                cloud,
                user,
                database: Self.file(
                    """
                    INSERT INTO artist VALUES (8, 'of the laptop');
                    INSERT INTO album (id, title, artist) VALUES (5, 'Made', 8);
                    """
                ),
                tables: Self.tables
            )
            try await settle(phone, laptop)
            #expect(try await phone.value("SELECT count(*) FROM artist") == "5")
            #expect(
                try await phone.value("SELECT name FROM everything WHERE title = 'Made'")
                    == "of the laptop"
            )
            for table in ["artist", "album", "member", "liked"] {
                #expect(try await phone.rows([table]) == laptop.rows([table]))
            }
            #expect(try await phone.value("SELECT count(*) FROM liked") == "2")
            for device in [phone, laptop] {
                #expect(try await device.store.status.isSettled)
                #expect(try await device.store.verify().differences == [])
            }
        }
    }

    @Test("A key is the same wherever it is made, and an identifier of version 5")
    func version() async throws {
        let keys = try await Self.file().read {
            try String.fetchAll($0, sql: "SELECT id FROM artist ORDER BY name")
        }
        #expect(keys.first == "5EB0E3BE-56CA-5989-84F5-7C8796721E12")
        #expect(keys.allSatisfy { Array($0)[14] == "5" })
    }

    @Test("What cannot be done is refused with the remedy, and nothing is changed")
    func refusals() async throws {
        func schema(of database: DatabaseQueue) throws -> [String] {
            try database.read {
                try String.fetchAll(
                    $0,
                    sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
                )
            }
        }
        func message(
            _ tables: String,
            _ names: [String],
            enforced: Bool = false
        ) throws -> String {
            let database = try DatabaseQueue()
            var migrator = DatabaseMigrator()
            migrator.registerMigration("tables") { try $0.execute(sql: tables) }
            try migrator.migrate(database)
            let before = try schema(of: database)
            migrator.registerMigration(
                "keys",
                foreignKeyChecks: enforced ? .immediate : .deferred
            ) { database in
                try database.replaceIntegerKeys(in: names)
            }
            do {
                try migrator.migrate(database)
                return "nothing was refused"
            } catch let error as CloudStoreError {
                #expect(try schema(of: database) == before)
                return error.message
            }
        }
        #expect(try message("CREATE TABLE a (x TEXT)", ["b"]).contains("no table 'b'"))
        #expect(
            try message("CREATE TABLE a (id TEXT PRIMARY KEY)", ["a"]).contains("leave it out")
        )
        #expect(
            try message("CREATE TABLE a (id INTEGER PRIMARY KEY)", ["a"], enforced: true)
                .contains("deferred checks")
        )
    }
}
