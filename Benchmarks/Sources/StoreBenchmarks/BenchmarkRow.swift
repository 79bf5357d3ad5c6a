import Foundation
import GRDB

/// A row of ten columns, as an app has them.
struct BenchmarkRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "note"

    static let schema = """
        CREATE TABLE note (
            id TEXT PRIMARY KEY NOT NULL,
            title TEXT NOT NULL,
            body TEXT NOT NULL,
            author TEXT NOT NULL,
            color TEXT NOT NULL,
            created DATETIME NOT NULL,
            edited DATETIME NOT NULL,
            visits INTEGER NOT NULL,
            weight DOUBLE NOT NULL,
            isPinned BOOLEAN NOT NULL
        );
        CREATE INDEX note_edited ON note (edited);
        """

    var id: String
    var title: String
    var body: String
    var author: String
    var color: String
    var created: Date
    var edited: Date
    var visits: Int
    var weight: Double
    var isPinned: Bool

    init(_ number: Int) {
        id = Self.id(number)
        title = "Note number \(number), with a title"
        body =
            "The text of the note \(number): two or three sentences, as people write them down. "
            + "This is the second one."
        author = number.isMultiple(of: 3) ? "Ada" : "Grace"
        color = number.isMultiple(of: 2) ? "yellow" : "blue"
        created = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
        edited = Date(timeIntervalSince1970: 1_720_000_000 + Double(number) / 8)
        visits = number % 1_000
        weight = Double(number) / 4
        isPinned = number.isMultiple(of: 7)
    }

    /// Returns a key as long as a UUID, the same in every run, not in the order of the numbers.
    static func id(_ number: Int) -> String {
        let mixed = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        let digits = String(mixed, radix: 16, uppercase: true)
        return String(repeating: "0", count: 16 - digits.count) + digits + "-8000-0123456789AB"
    }
}
