package import GRDB
import Synchronization

/// The frequent words of the control tables, by number: names of types, tables, fields and devices.
///
/// A number denotes its word forever. Every addition gives the file a new edition, a random number:
/// data read with an edition stays valid, whoever has the file open, and rolling back a transaction
/// also rolls back its edition.
package final class Words: Sendable {
    /// The maximum number of words; further ones are spelled out.
    private static let limit = 10_000

    private let edition: Int64
    /// The words; the first one has the number 1.
    private let texts: [String]
    private let numbers: [String: Int]

    private init(edition: Int64, texts: [String]) {
        self.edition = edition
        self.texts = texts
        numbers = Dictionary(texts.enumerated().map { ($1, $0 + 1) }) { first, _ in first }
    }

    /// The words of a file that has none.
    static let none = Words(edition: 0, texts: [])

    /// Returns the number of a word; nil for one that is spelled out.
    func number(of text: String) -> Int? { numbers[text] }

    /// Returns the word of a number; nil for an unassigned number.
    func text(of number: Int) -> String? {
        texts.indices.contains(number - 1) ? texts[number - 1] : nil
    }

    // MARK: In the file

    /// The SQL of the file's current edition.
    static let edition = "(SELECT words FROM grdb_cloudkit_control)"

    private static let read = Mutex<[Int64: Words]>([:])

    /// Returns the current words of the file.
    package static func current(_ database: Database) throws -> Words {
        let statement = try database.cachedStatement(sql: "SELECT \(edition)")
        return try of(Int64.fetchOne(statement) ?? 0, database)
    }

    /// Returns the words of an edition of the file.
    static func of(_ edition: Int64, _ database: Database) throws -> Words {
        if edition == 0 { return none }
        if let known = read.withLock({ $0[edition] }) { return known }
        let statement = try database.cachedStatement(
            sql: "SELECT text FROM grdb_cloudkit_word ORDER BY id"
        )
        let words = Words(edition: edition, texts: try String.fetchAll(statement))
        read.withLock { read in
            // Each can be read from the file again.
            if read.count >= 16 { read.removeAll() }
            read[edition] = words
        }
        return words
    }

    /// Returns the file's words after adding others, as far as there is room.
    ///
    /// - Parameters:
    ///   - others: The texts that need numbers.
    ///   - database: The file, in a transaction that writes.
    ///   - areNeeded: Whether to make room for them.
    /// - Returns: The words.
    /// - Throws: An error of the database.
    package static func adding(
        _ others: some Sequence<String>,
        _ database: Database,
        areNeeded: Bool = false
    ) throws -> Words {
        try current(database).adding(others, database, areNeeded: areNeeded)
    }

    private func adding(
        _ others: some Sequence<String>,
        _ database: Database,
        areNeeded: Bool
    ) throws -> Words {
        var new: [String] = []
        var seen: Set<String> = []
        for text in others where numbers[text] == nil && seen.insert(text).inserted {
            // GRDB reads text up to its first NUL.
            guard areNeeded || texts.count + new.count < Self.limit, !text.hasNUL else { continue }
            new.append(text)
        }
        guard !new.isEmpty else { return self }
        for (offset, text) in new.enumerated() {
            try database.run(
                "INSERT INTO grdb_cloudkit_word (id, text) VALUES (?, ?)",
                [texts.count + offset + 1, text]
            )
        }
        let edition = Int64.random(in: 1...Int64.max)
        try database.run("UPDATE grdb_cloudkit_control SET words = ?", [edition])
        let words = Words(edition: edition, texts: texts + new)
        Self.read.withLock { $0[edition] = words }
        return words
    }

    /// Returns the SQL of a word's number.
    static func sql(_ text: String) -> String {
        "(SELECT id FROM grdb_cloudkit_word WHERE text = \(text))"
    }

    /// Returns the SQL of the word whose number a column holds.
    static func sql(ofNumber column: String) -> String {
        "(SELECT text FROM grdb_cloudkit_word WHERE id = \(column))"
    }
}
