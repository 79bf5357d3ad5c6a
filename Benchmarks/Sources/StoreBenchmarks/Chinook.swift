import Foundation
import GRDB

/// A database like Chinook, the well-known sample of a record shop, with the proportions of its
/// tables: with identifiers as keys, like those of an app that syncs, and no indexes but those of the
/// keys.
enum Chinook {
    static let tables = [
        "artist", "album", "genre", "media_type", "track", "playlist", "playlist_track", "customer",
        "invoice", "invoice_line",
    ]

    static let schema = """
        CREATE TABLE artist (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
        CREATE TABLE album (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL,
            artistId TEXT NOT NULL REFERENCES artist (id)
        );
        CREATE TABLE genre (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
        CREATE TABLE media_type (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
        CREATE TABLE track (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, albumId TEXT REFERENCES album (id),
            mediaTypeId TEXT NOT NULL REFERENCES media_type (id),
            genreId TEXT REFERENCES genre (id), composer TEXT, milliseconds INTEGER NOT NULL,
            bytes INTEGER, unitPrice NUMERIC NOT NULL
        );
        CREATE TABLE playlist (id TEXT PRIMARY KEY NOT NULL, name TEXT);
        CREATE TABLE playlist_track (
            playlistId TEXT NOT NULL REFERENCES playlist (id),
            trackId TEXT NOT NULL REFERENCES track (id),
            PRIMARY KEY (playlistId, trackId)
        );
        CREATE TABLE customer (
            id TEXT PRIMARY KEY NOT NULL, firstName TEXT NOT NULL, lastName TEXT NOT NULL,
            address TEXT, city TEXT, country TEXT, phone TEXT, email TEXT NOT NULL
        );
        CREATE TABLE invoice (
            id TEXT PRIMARY KEY NOT NULL, customerId TEXT NOT NULL REFERENCES customer (id),
            invoiceDate DATETIME NOT NULL, billingCity TEXT, billingCountry TEXT,
            total NUMERIC NOT NULL
        );
        CREATE TABLE invoice_line (
            id TEXT PRIMARY KEY NOT NULL, invoiceId TEXT NOT NULL REFERENCES invoice (id),
            trackId TEXT NOT NULL REFERENCES track (id), unitPrice NUMERIC NOT NULL,
            quantity INTEGER NOT NULL
        );
        """

    /// The number of rows in each table of the sample.
    private static let sample = [
        ("artist", 275), ("album", 347), ("genre", 25), ("media_type", 5), ("track", 3503),
        ("playlist", 18), ("customer", 59), ("invoice", 412), ("invoice_line", 2240),
        ("playlist_track", 8715),
    ]

    /// Fills the tables with approximately a number of rows, the same in every run.
    static func fill(_ database: DatabasePool, rows: Int) async throws {
        let total = sample.map(\.1).reduce(0, +)
        let counts = Dictionary(
            uniqueKeysWithValues: sample.map { ($0.0, max(1, $0.1 * rows / total)) }
        )
        for (table, _) in sample {
            let count = counts[table] ?? 0
            for start in stride(from: 0, to: count, by: 1_000) {
                try await database.write { database in
                    for number in start..<min(start + 1_000, count) {
                        try insert(number, table, counts, database)
                    }
                }
            }
        }
    }

    static func count(_ database: DatabasePool) async throws -> Int {
        try await database.read { database in
            try tables.reduce(0) { count, table in
                count + (try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0)
            }
        }
    }

    private static func insert(
        _ number: Int,
        _ table: String,
        _ counts: [String: Int],
        _ database: Database
    ) throws {
        func key(_ other: String, _ step: Int = 1) -> String {
            id(number * step % (counts[other] ?? 1), other)
        }
        let values: [(any DatabaseValueConvertible)?]
        switch table {
        case "artist": values = [text(number, 2)]
        case "album": values = [text(number, 4), key("artist")]
        case "genre", "media_type", "playlist": values = [text(number, 1)]
        case "track":
            values = [
                text(number, 3), key("album"), key("media_type"), key("genre"),
                number.isMultiple(of: 4) ? nil : text(number + 7, 4),
                100_000 + number * 37 % 400_000,
                2_000_000 + number * 911 % 9_000_000, 0.99,
            ]
        case "customer":
            values = [
                text(number, 1), text(number + 3, 1), text(number, 3), text(number, 1),
                text(number, 1), "+1 (555) \(1_000_000 + number)", "person\(number)@example.com",
            ]
        case "invoice":
            values = [
                key("customer"), Date(timeIntervalSince1970: 1_600_000_000 + Double(number)),
                text(number, 1), text(number, 1), Double(number % 2_500) / 100,
            ]
        case "invoice_line": values = [key("invoice"), key("track", 3), 0.99, 1]
        default:
            // Each track is in two or three lists.
            let (tracks, lists) = (counts["track"] ?? 1, counts["playlist"] ?? 1)
            let list = (number / tracks * 7 + number % lists) % lists
            return try database.execute(
                sql: "INSERT OR IGNORE INTO playlist_track VALUES (?, ?)",
                arguments: [id(list, "playlist"), id(number % tracks, "track")]
            )
        }
        let marks = repeatElement("?", count: values.count + 1).joined(separator: ", ")
        let statement = try database.cachedStatement(sql: "INSERT INTO \(table) VALUES (\(marks))")
        try statement.execute(arguments: StatementArguments([id(number, table)] + values))
    }

    private static let words = [
        "Blue", "River", "Night", "The", "Song", "of", "Light", "Mountain", "Love", "and", "Rain",
        "Little", "Fire", "Street", "Dancing", "Home",
    ]

    private static func text(_ number: Int, _ count: Int) -> String {
        (0..<count).map { words[(number * 5 + $0 * 3 + number / 16) % words.count] }
            .joined(separator: " ") + " \(number % 100)"
    }

    /// Returns a UUID, not in the order of the numbers.
    static func id(_ number: Int, _ table: String) -> String {
        // Far apart, so that no two tables share a key.
        let seed = table.utf8.reduce(UInt64(7)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        let high = (UInt64(number) &+ seed) &* 0x9E37_79B9_7F4A_7C15
        let low = (high ^ (high >> 29)) &* 0xBF58_476D_1CE4_E5B9
        let digits = [high, low].map { number in
            let text = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var id = ""
        for (place, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(place) { id += "-" }
            id.append(digit)
        }
        return id
    }
}
