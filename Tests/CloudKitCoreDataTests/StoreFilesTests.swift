import CloudKitCoreData
import Foundation
import GRDB
import Testing

@Suite("Core Data stores: the files of a store")
struct StoreFilesTests {
    private static let model = """
        <entity name="Note"><attribute name="text" optional="YES" attributeType="String"/></entity>
        """
    private static let table = """
        CREATE TABLE ZNOTE (
            Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR);
        INSERT INTO ZNOTE VALUES (1, 1, 1, 'Milk');
        """

    /// Returns a copy of a store as it is on a device, where the app has just made changes.
    ///
    /// - Parameters:
    ///   - fixture: The store.
    ///   - changes: The changes, which are in the log alone.
    /// - Returns: The copy's file, beside which its log is.
    private func live(_ fixture: StoreFixture, _ changes: String) throws -> URL {
        let pool = try DatabasePool(path: fixture.url.path)
        try pool.writeWithoutTransaction { database in
            // As an app does whose log is not written back yet.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try database.execute(sql: changes)
        }
        let copy = fixture.folder.appendingPathComponent("Copy.sqlite")
        for suffix in ["", "-wal"] {
            let source = URL(fileURLWithPath: fixture.url.path + suffix)
            let target = URL(fileURLWithPath: copy.path + suffix)
            try FileManager.default.copyItem(at: source, to: target)
        }
        try pool.close()
        return copy
    }

    private func store(_ url: URL) throws -> CoreDataStore {
        try CoreDataStore(url: url, model: Fixture.model(Self.model))
    }

    @Test("A log that was left behind is named in the notes, and in errors that its lack explains")
    func missingLog() throws {
        try StoreFixture.with([(1, "Note", 0)], Self.table) { fixture in
            let copy = try live(fixture, "INSERT INTO ZNOTE VALUES (2, 1, 1, 'Bread')")
            #expect(try rows(store(copy), "Note").count == 2)
            #expect(try store(copy).notes == [])
            try FileManager.default.removeItem(atPath: copy.path + "-wal")
            let without = try store(copy)
            let hint = "Copy.sqlite-wal is not beside Copy.sqlite"
            #expect(try rows(without, "Note").count == 1)
            #expect(without.notes.contains { $0.contains(hint) })
            let report = try without.convert(to: fixture.folder.appendingPathComponent("a.sqlite"))
            #expect(report.notes.contains { $0.contains(hint) })
        }
        // A store whose tables are all in the log.
        try StoreFixture.with([(2, "Tag", 0)], "") { fixture in
            let copy = try live(
                fixture,
                "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Note', Z_ENT = 1 WHERE Z_ENT = 2; " + Self.table
            )
            #expect(try rows(store(copy), "Note").count == 1)
            try FileManager.default.removeItem(atPath: copy.path + "-wal")
            let error = #expect(throws: CoreDataStoreError.self) { try store(copy) }
            #expect(error?.code == .differentModel)
            #expect(error?.message.contains("Copy.sqlite-wal is not beside Copy.sqlite") == true)
            #expect(error?.differences.isEmpty == false)
        }
    }

    @Test("A damaged log is named in the notes, and what an earlier log left in it is no damage")
    func damagedLog() throws {
        try StoreFixture.with([(1, "Note", 0)], Self.table) { fixture in
            let copy = try live(fixture, "INSERT INTO ZNOTE VALUES (2, 1, 1, 'Bread')")
            let log = URL(fileURLWithPath: copy.path + "-wal")
            let whole = try Data(contentsOf: log)
            let lastSalt = whole.count - 4096 - 16
            func flipped(_ place: Int) -> Data {
                var data = whole
                data[place] ^= 1
                return data
            }
            // A frame with other salts, whole or cut.
            let earlier = Data(flipped(lastSalt).suffix(24 + 4096))
            for (data, isDamaged) in [
                (whole, false), (Data(), false), (whole + earlier, false),
                (whole + earlier.prefix(100), false), (whole.dropLast(), true),
                (whole.dropLast(4096 + 10), true), (whole.prefix(20), true), (flipped(2), true),
                (flipped(9), true), (flipped(whole.count - 1), true), (flipped(18), true),
                (flipped(24 + 32 + 7), true), (flipped(24 + 8), true),
            ] {
                try data.write(to: log)
                let notes = try store(copy).notes.filter {
                    $0.contains("Copy.sqlite-wal is damaged")
                }
                #expect(notes.isEmpty != isDamaged, "\(data.count)")
                #expect(notes.allSatisfy { $0.contains("VACUUM INTO") })
            }
        }
    }

    @Test("A log that cannot be copied is an error with its name and the remedy")
    func unreadableLog() throws {
        try StoreFixture.with([(1, "Note", 0)], Self.table) { fixture in
            let log = fixture.url.path + "-wal"
            try FileManager.default.createDirectory(
                atPath: log,
                withIntermediateDirectories: false
            )
            let error = #expect(throws: CoreDataStoreError.self) { try store(fixture.url) }
            #expect(error?.code == .unreadable)
            #expect(error?.place == log)
            #expect(error?.message.contains("it is no file") == true)
            #expect(error?.message.contains("close the app that uses it") == true)
        }
    }

    @Test("A conversion replaces no file of the store, under whatever name it is given")
    func ownFiles() throws {
        try StoreFixture.with([(1, "Note", 0)], Self.table) { fixture in
            let manager = FileManager.default
            let copy = try live(fixture, "INSERT INTO ZNOTE VALUES (2, 1, 1, 'Bread')")
            try fixture.addExternal("A", Data("large".utf8))
            try manager.moveItem(
                at: fixture.folder.appendingPathComponent(".App_SUPPORT"),
                to: fixture.folder.appendingPathComponent(".Copy_SUPPORT")
            )
            let log = copy.path + "-wal"
            func path(_ name: String) -> String { fixture.folder.path + "/" + name }
            try manager.createSymbolicLink(atPath: path("link"), withDestinationPath: log)
            try manager.createSymbolicLink(
                atPath: path("folder"),
                withDestinationPath: fixture.folder.path
            )
            try manager.linkItem(atPath: log, toPath: path("hard"))
            let store = try store(copy)
            let names = [
                "Copy.sqlite", "Copy.sqlite-wal", "Copy.sqlite-shm", "Copy.sqlite-SHM",
                ".Copy_SUPPORT/_EXTERNAL_DATA/A", ".Copy_SUPPORT/new", "link", "hard",
                "folder/Copy.sqlite-journal", "folder/Copy.sqlite-wal",
            ]
            let before = try Data(contentsOf: URL(fileURLWithPath: log))
            var options = CoreDataConversionOptions()
            options.replacesFile = true
            for name in names {
                let target = URL(fileURLWithPath: path(name))
                let error = #expect(throws: CoreDataStoreError.self, "\(name)") {
                    try store.convert(to: target, options: options)
                }
                #expect(error?.code == .conflictingFile, "\(name)")
                #expect(error?.message.contains("Copy.sqlite") == true)
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: log)) == before)
            #expect(try rows(self.store(copy), "Note").count == 2)
        }
    }

    @Test(
        "A log beside the new database is never applied to it: it is refused, or removed on request"
    )
    func strangeLog() throws {
        try StoreFixture.with([(1, "Note", 0)], Self.table) { fixture in
            // The log of another database with other rows.
            let other = try live(fixture, "INSERT INTO ZNOTE VALUES (2, 1, 1, 'Bread')")
            let target = fixture.folder.appendingPathComponent("app.sqlite")
            let log = target.path + "-wal"
            try FileManager.default.moveItem(atPath: other.path + "-wal", toPath: log)
            let store = try store(fixture.url)
            let error = #expect(throws: CoreDataStoreError.self) { try store.convert(to: target) }
            #expect(error?.code == .conflictingFile)
            #expect(error?.place == log)
            #expect(FileManager.default.fileExists(atPath: log))
            #expect(!FileManager.default.fileExists(atPath: target.path))
            var options = CoreDataConversionOptions()
            options.replacesFile = true
            try store.convert(to: target, options: options)
            #expect(!FileManager.default.fileExists(atPath: log))
            let queue = try DatabaseQueue(path: target.path)
            #expect(
                try queue.read { try String.fetchAll($0, sql: "SELECT text FROM Note") }.count == 2
            )
            try queue.close()
        }
    }

    @Test("A byte order mark of UTF-8 is passed over, and that of another encoding is named")
    func byteOrderMarks() throws {
        let text = Fixture.xml(Self.model)
        let marked = try Fixture.read(Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8))
        #expect(marked.entities.map(\.name) == ["Note"])
        for (encoding, name) in [
            (String.Encoding.utf16, "UTF-16"), (.utf16LittleEndian, "UTF-16"), (.utf32, "UTF-32"),
        ] {
            var data = try #require(text.data(using: encoding))
            if encoding == .utf16LittleEndian { data = Data([0xFF, 0xFE]) + data }
            let error = try Fixture.failure { _ = try Fixture.read(data) }
            #expect(error.code == .malformed)
            #expect(error.description.contains("byte order mark of \(name)"), "\(error)")
            #expect(error.place == "contents")
        }
    }
}
