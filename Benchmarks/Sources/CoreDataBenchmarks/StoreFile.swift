import CloudKitCoreData
import Foundation
import GRDB

/// A store in Core Data's format, with the records that its rows have in CloudKit.
final class StoreFile: Sendable {
    let rows: Int
    private let folder: Folder
    private let model: CoreDataModel
    private var url: URL { folder.file("App.sqlite") }

    init(rows: Int) throws {
        self.rows = rows
        folder = try Folder()
        model = try Self.model()
        try write()
    }

    func open() throws -> CoreDataStore { try CoreDataStore(url: url, model: model) }

    /// Returns the name of a record, as long as a UUID and in no order.
    static func name(_ number: Int) -> String {
        let digits = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16, uppercase: true)
        let padded = Array(String(repeating: "0", count: 16 - digits.count) + digits)
        return String(padded[0..<8]) + "-" + String(padded[8..<12]) + "-"
            + String(padded[12..<16]) + "-8000-0123456789AB"
    }

    static func body(_ number: Int) -> String {
        "The text of the note \(number): two or three sentences, as people write them down. "
            + "This is the second one."
    }

    private static func model() throws -> CoreDataModel {
        typealias Attribute = CoreDataModel.Attribute
        var note = CoreDataModel.Entity(name: "Note")
        let types: [(String, CoreDataModel.AttributeType)] = [
            ("author", .string), ("body", .string), ("color", .string), ("created", .date),
            ("edited", .date), ("isPinned", .boolean), ("price", .decimal), ("title", .string),
            ("visits", .integer64), ("weight", .double),
        ]
        note.attributes = types.map { name, type in
            var attribute = Attribute(name: name, type: type)
            attribute.isOptional = true
            return attribute
        }
        var link = CoreDataModel.Relationship(name: "folder", destination: "Folder")
        link.inverseName = "notes"
        note.relationships = [link]
        var folder = CoreDataModel.Entity(name: "Folder")
        folder.attributes = [Attribute(name: "name", type: .string)]
        var notes = CoreDataModel.Relationship(name: "notes", destination: "Note")
        notes.inverseName = "folder"
        notes.isToMany = true
        notes.deleteRule = .cascade
        folder.relationships = [notes]
        return try CoreDataModel(entities: [note, folder])
    }

    private func write() throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { database in
            try database.execute(sql: Self.schema)
            let note = try database.makeStatement(
                sql: "INSERT INTO ZNOTE VALUES (?, 2, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            )
            let record = try database.makeStatement(
                sql: "INSERT INTO ANSCKRECORDMETADATA VALUES (NULL, 2, ?, ?, 1, 0, 0, 0)"
            )
            for number in 1...rows {
                let row = PlainRow(number)
                try note.execute(
                    arguments: [
                        number, row.isPinned, row.visits, 1 + number % 100,
                        row.created.timeIntervalSinceReferenceDate,
                        row.edited.timeIntervalSinceReferenceDate, row.weight, row.weight,
                        row.author, row.body, row.color, row.title,
                    ]
                )
                try record.execute(arguments: [number, row.recordName])
            }
        }
        try queue.close()
    }

    private static let schema = """
        CREATE TABLE Z_PRIMARYKEY (
            Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Folder', 0, 100), (2, 'Note', 0, 0);
        CREATE TABLE ZFOLDER (
            Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
        INSERT INTO ZFOLDER SELECT i, 1, 1, 'Folder' FROM n;
        CREATE TABLE ZNOTE (
            Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISPINNED INTEGER,
            ZVISITS INTEGER, ZFOLDER INTEGER, ZCREATED TIMESTAMP, ZEDITED TIMESTAMP,
            ZWEIGHT FLOAT, ZPRICE DECIMAL, ZAUTHOR VARCHAR, ZBODY VARCHAR, ZCOLOR VARCHAR,
            ZTITLE VARCHAR);
        CREATE TABLE ANSCKRECORDZONEMETADATA (
            Z_PK INTEGER PRIMARY KEY, ZCKOWNERNAME VARCHAR, ZCKRECORDZONENAME VARCHAR);
        INSERT INTO ANSCKRECORDZONEMETADATA VALUES
            (1, '__defaultOwner__', 'com.apple.coredata.cloudkit.zone');
        CREATE TABLE ANSCKRECORDMETADATA (
            Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER,
            ZCKRECORDNAME VARCHAR, ZRECORDZONE INTEGER, ZNEEDSUPLOAD INTEGER,
            ZNEEDSCLOUDDELETE INTEGER, ZNEEDSLOCALDELETE INTEGER);
        INSERT INTO ANSCKRECORDMETADATA
            SELECT NULL, 1, Z_PK, 'F' || (Z_PK - 1), 1, 0, 0, 0 FROM ZFOLDER;
        """
}
