import CloudKitStore
import GRDB
import Support
import Testing

@Suite("Tables are checked when the store is made")
struct SetupTests {
    struct Mistake: CustomTestStringConvertible {
        var name: String
        var schema: String
        var tables: [SyncedTable]
        var code: CloudStoreError.Code
        /// The words that the message has to contain.
        var words: [String]

        var testDescription: String { name }
    }

    static let mistakes: [Mistake] = [
        Mistake(
            name: "no such table",
            schema: "",
            tables: [.table("note")],
            code: .noSuchTable,
            words: ["note", "migration"]
        ),
        Mistake(
            name: "no primary key",
            schema: "CREATE TABLE note (title TEXT)",
            tables: [.table("note")],
            code: .unusableKey,
            words: ["note", "primary key", "UUID"]
        ),
        Mistake(
            name: "numbered by SQLite",
            schema: "CREATE TABLE note (id INTEGER PRIMARY KEY)",
            tables: [.table("note")],
            code: .unusableKey,
            words: ["note", "assignsIntegerKeys", "replaceIntegerKeys"]
        ),
        Mistake(
            name: "a floating-point key",
            schema: "CREATE TABLE note (id REAL PRIMARY KEY NOT NULL)",
            tables: [.table("note")],
            code: .unusableKey,
            words: ["note", "'id'", "REAL"]
        ),
        Mistake(
            name: "a date as a key",
            schema: "CREATE TABLE note (day DATE PRIMARY KEY NOT NULL)",
            tables: [.table("note")],
            code: .unusableKey,
            words: ["note", "'day'", "forms: [\"day\": .text]"]
        ),
        Mistake(
            name: "a key that takes two spellings for one",
            schema: "CREATE TABLE note (id TEXT PRIMARY KEY COLLATE NOCASE NOT NULL)",
            tables: [.table("note")],
            code: .unusableKey,
            words: ["note", "'id'", "NOCASE", "UNIQUE index"]
        ),
        Mistake(
            name: "a part of a key that takes two spellings for one",
            schema: """
                CREATE TABLE note (
                    one TEXT NOT NULL, two TEXT NOT NULL COLLATE RTRIM, PRIMARY KEY (one, two)
                ) WITHOUT ROWID
                """,
            tables: [.table("note")],
            code: .unusableKey,
            words: ["note", "'two'", "RTRIM"]
        ),
        Mistake(
            name: "a column without type",
            schema: "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, thing)",
            tables: [.table("note")],
            code: .unmappableColumn,
            words: ["thing", "note", "forms"]
        ),
        Mistake(
            name: "a reference out",
            schema: """
                CREATE TABLE folder (id TEXT PRIMARY KEY NOT NULL);
                CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, folder TEXT REFERENCES folder);
                """,
            tables: [.table("note")],
            code: .unsyncedReference,
            words: ["folder", "note", "localOnly"]
        ),
        Mistake(
            name: "a reserved column",
            schema: "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, creationDate TEXT)",
            tables: [.table("note")],
            code: .invalidName,
            words: ["creationDate", "fields"]
        ),
        Mistake(
            name: "a column that is no field",
            schema: "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, \"größe\" TEXT)",
            tables: [.table("note")],
            code: .invalidName,
            words: ["größe", "fields"]
        ),
        Mistake(
            name: "a name that is too long",
            schema: "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL)",
            tables: [.table("note", recordType: String(repeating: "x", count: 256))],
            code: .invalidName,
            words: ["256", "255"]
        ),
        Mistake(
            name: "a declared column that is not there",
            schema: "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL)",
            tables: [.table("note", encrypted: ["secret"])],
            code: .noSuchColumn,
            words: ["secret", "encrypted"]
        ),
        Mistake(
            name: "two tables of one type",
            schema: """
                CREATE TABLE one (id TEXT PRIMARY KEY NOT NULL);
                CREATE TABLE two (id TEXT PRIMARY KEY NOT NULL);
                """,
            tables: [.table("one", recordType: "Thing"), .table("two", recordType: "Thing")],
            code: .duplicateName,
            words: ["Thing", "two"]
        ),
        Mistake(
            name: "two columns of one field",
            schema: "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT)",
            tables: [.table("note", fields: ["b": "a"])],
            code: .duplicateName,
            words: ["'b'", "fields"]
        ),
        Mistake(
            name: "an encrypted key",
            schema: "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL)",
            tables: [.table("note", encrypted: ["id"])],
            code: .unusableKey,
            words: ["encrypted"]
        ),
    ]

    @Test("A mistake is named, with its remedy, and nothing is installed", arguments: mistakes)
    func mistake(_ mistake: Mistake) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let container = try await cloud.device(of: cloud.addUser())
            let database = try DatabaseQueue()
            try await database.write { try $0.execute(sql: mistake.schema) }
            do {
                _ = try CloudStore(
                    database: database,
                    container: container,
                    tables: mistake.tables
                )
                Issue.record("the mistake was not noticed")
            } catch let error as CloudStoreError {
                #expect(error.code == mistake.code, "\(error)")
                for word in mistake.words { #expect(error.message.contains(word), "\(error)") }
            }
            let tables = try await database.read { database in
                try String.fetchAll(
                    database,
                    sql: "SELECT name FROM sqlite_master WHERE name LIKE 'grdb_cloudkit%'"
                )
            }
            #expect(tables.isEmpty)
        }
    }

    @Test("A file of a newer version is left alone")
    func newer() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let device = try await Device(cloud, user)
            try await device.run("UPDATE grdb_cloudkit_control SET version = 99")
            #expect {
                try CloudStore(
                    database: device.database,
                    container: device.container,
                    tables: Device.notes
                )
            } throws: { error in
                (error as? CloudStoreError)?.code == .unreadableFile
            }
        }
    }
}
