import Foundation
import GRDB

/// A row of the converted database, as an app with GRDB writes it.
struct PlainRow: Codable, PersistableRecord {
    static let databaseTableName = "Note"

    /// The tables as the conversion creates them.
    private static let schema = """
        CREATE TABLE Folder (recordName TEXT PRIMARY KEY NOT NULL, name TEXT);
        CREATE TABLE Note (
            recordName TEXT PRIMARY KEY NOT NULL, author TEXT, body TEXT, color TEXT,
            created DATETIME, edited DATETIME, isPinned BOOLEAN, price TEXT, title TEXT,
            visits INTEGER, weight DOUBLE,
            folder TEXT REFERENCES Folder (recordName) ON DELETE CASCADE
                DEFERRABLE INITIALLY DEFERRED
        );
        CREATE INDEX Note_folder_index ON Note (folder);
        """

    var recordName: String
    var author: String
    var body: String
    var color: String
    var created: Date
    var edited: Date
    var isPinned: Bool
    var price: Decimal
    var title: String
    var visits: Int
    var weight: Double
    var folder: String

    init(_ number: Int) {
        recordName = StoreFile.name(number)
        author = number.isMultiple(of: 3) ? "Ada" : "Grace"
        body = StoreFile.body(number)
        color = number.isMultiple(of: 2) ? "yellow" : "blue"
        created = Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(number))
        edited = Date(timeIntervalSinceReferenceDate: 720_000_000 + Double(number) / 8)
        isPinned = number.isMultiple(of: 7)
        price = Decimal(number) / 4
        title = "Note number \(number), with a title"
        visits = number % 1_000
        weight = Double(number) / 4
        folder = "F\(number % 100)"
    }

    /// Inserts rows in one transaction.
    static func insert(_ count: Int, into file: URL) throws {
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { database in
            try database.execute(sql: schema)
            for number in 0..<100 {
                try database.execute(
                    sql: "INSERT INTO Folder VALUES (?, 'Folder')",
                    arguments: ["F\(number)"]
                )
            }
            for number in 1...count { try PlainRow(number).insert(database) }
        }
        try queue.close()
    }
}
