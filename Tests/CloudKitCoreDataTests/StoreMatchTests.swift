import CloudKitCoreData
import Foundation
import GRDB
import Testing

@Suite("Core Data stores: the model, and the files")
struct StoreMatchTests {
    private static let note = """
        <entity name="Note"><attribute name="text" optional="YES" attributeType="String"/></entity>
        """
    private static let noteTable = """
        CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR);
        INSERT INTO ZNOTE VALUES (1, 1, 1, 'Milk');
        """

    @Test(
        "Another model is refused with what differs",
        arguments: [
            (note + #"<entity name="Tag"/>"#, "Tag: the store has no such entity"),
            (#"<entity name="Tag"/>"#, "Note: the model has no such entity"),
            (note.replacing("text", with: "body"), "Note.body: ZNOTE has no column ZBODY"),
            (
                note.replacing("String", with: "Date"),
                "Note.text: it is a Date, and its column is VARCHAR"
            ),
            (#"<entity name="Note"/>"#, "Note: the model has no property of ZTEXT"),
            (
                #"<entity name="Tag"/>"#
                    + note.replacing("name=\"Note\"", with: "name=\"Note\" parentEntity=\"Tag\""),
                "Note: its parent is Tag, in the store none"
            ),
        ]
    )
    func differences(_ model: String, _ difference: String) throws {
        try StoreFixture.with([(1, "Note", 0)], Self.noteTable) { fixture in
            let error = #expect(throws: CoreDataStoreError.self) { _ = try fixture.store(model) }
            #expect(error?.code == .differentModel)
            #expect(error?.differences.contains(difference) == true, "\(error?.description ?? "")")
            #expect(error?.description.contains(difference) == true)
        }
    }

    @Test("A store of one configuration has that configuration's entities alone")
    func configuration() throws {
        let model =
            Self.note + """
                <entity name="Draft"/>
                <configuration name="Cloud"><memberEntity name="Note"/></configuration>
                """
        try StoreFixture.with([(1, "Note", 0)], Self.noteTable) { fixture in
            let store = try fixture.store(model)
            #expect(store.entities.map(\.name) == ["Note"])
            try fixture.converted(store) { database, _ throws in
                #expect(try database.tableExists("Draft") == false)
            }
        }
    }

    @Test("Rows that are only in the log come over, and no file of the store changes")
    func writeAheadLog() throws {
        try StoreFixture.with([(1, "Note", 0)], Self.noteTable) { fixture in
            let live = try DatabasePool(path: fixture.url.path)
            try live.write { try $0.execute(sql: "INSERT INTO ZNOTE VALUES (2, 1, 1, 'Bread')") }
            func files() throws -> [String: Data] {
                try ["", "-wal", "-shm"].reduce(into: [:]) {
                    $0[$1] = try Data(contentsOf: URL(fileURLWithPath: fixture.url.path + $1))
                }
            }
            let before = try files()
            let store = try fixture.store(Self.note)
            #expect(
                try rows(store, "Note").map { $0.values["text"] } == [
                    .string("Milk"), .string("Bread"),
                ]
            )
            try fixture.converted(store) { database, _ throws in
                #expect(
                    try String.fetchAll(database, sql: "SELECT text FROM Note") == [
                        "Milk", "Bread",
                    ]
                )
            }
            #expect(try files() == before)
            try live.close()
        }
    }

    @Test("A store without a model, another database, and a damaged one are errors")
    func unreadable() throws {
        try StoreFixture.with([(1, "Note", 0)], Self.noteTable) { fixture in
            let none = #expect(throws: CoreDataStoreError.self) {
                _ = try CoreDataStore(url: fixture.url)
            }
            #expect(none?.code == .unreadable)
            #expect(none?.description.contains("model") == true)
            try fixture.execute("DROP TABLE Z_PRIMARYKEY")
            let other = #expect(throws: CoreDataStoreError.self) {
                _ = try fixture.store(Self.note)
            }
            #expect(other?.description.contains("not a Core Data store") == true)
            let missing = #expect(throws: CoreDataStoreError.self) {
                _ = try CoreDataStore(url: fixture.folder.appendingPathComponent("none.sqlite"))
            }
            #expect(missing?.code == .unreadable)
        }
    }

    @Test(
        "A conversion replaces no file unless it is instructed to, and leaves none when it fails"
    )
    func target() throws {
        try StoreFixture.with([(1, "Note", 0)], Self.noteTable) { fixture in
            let store = try fixture.store(Self.note)
            let file = fixture.folder.appendingPathComponent("app.sqlite")
            try Data("mine".utf8).write(to: file)
            let error = #expect(throws: CoreDataStoreError.self) { try store.convert(to: file) }
            #expect(error?.code == .unwritable)
            #expect(try Data(contentsOf: file) == Data("mine".utf8))
            var options = CoreDataConversionOptions()
            options.replacesFile = true
            #expect(try store.convert(to: file, options: options).rows == ["Note": 1])
            // The same store can be converted repeatedly.
            #expect(try store.convert(to: file, options: options).rows == ["Note": 1])
            let nowhere = fixture.folder.appendingPathComponent("none/app.sqlite")
            #expect(throws: CoreDataStoreError.self) { try store.convert(to: nowhere) }
            let left = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
            #expect(left.allSatisfy { !$0.hasPrefix(".app") })
        }
    }

    @Test("Rows are read as they are asked for")
    func lazily() throws {
        let sql =
            Self.noteTable + """
                WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                INSERT INTO ZNOTE SELECT i, 1, 1, 'n' || i FROM n;
                INSERT INTO ZNOTE VALUES (2001, 1, 1, 5), (2002, 1, 1, 'after');
                UPDATE ZNOTE SET ZTEXT = x'00' WHERE Z_PK = 2001;
                """
        try StoreFixture.with([(1, "Note", 0)], sql) { fixture in
            let store = try fixture.store(Self.note)
            // The error is after the rows that are taken.
            let first = try store.rows(of: "Note").prefix(1200).map { try $0.get() }
            #expect(first.map(\.id.key) == (1...1200).map { Int64($0) })
            let results = Array(try store.rows(of: "Note"))
            #expect(throws: CoreDataStoreError.self) { try results.last?.get() }
            #expect(results.dropLast().allSatisfy { (try? $0.get()) != nil })
            let error = #expect(throws: CoreDataStoreError.self) {
                try store.convert(to: fixture.folder.appendingPathComponent("app.sqlite"))
            }
            #expect(error?.place == "Note/p2001.text")
        }
    }
}
