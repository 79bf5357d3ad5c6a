package import GRDB
import Synchronization

/// The words that the control tables say often, by numbers: names of types, tables, fields and
/// devices.
///
/// A number stands for its word for good. Every addition gives the file another edition, a number by
/// chance: what was read of one edition is true of it for ever, whoever has the file open, and a
/// transaction that is rolled back takes its edition with it.
package final class Words: Sendable {
    /// How many there may be; more are spelled out where they are said.
    private static let limit = 10_000

    private let edition: Int64
    /// The word of the number 1 is the first.
    private let texts: [String]
    private let numbers: [String: Int]

    private init(edition: Int64, texts: [String]) {
        self.edition = edition
        self.texts = texts
        numbers = Dictionary(texts.enumerated().map { ($1, $0 + 1) }) { first, _ in first }
    }

    /// The words of a file without any.
    static let none = Words(edition: 0, texts: [])

    /// The number of a word; nil for one that is spelled out.
    func number(of text: String) -> Int? { numbers[text] }

    /// The word of a number; nil for a number of none.
    func text(of number: Int) -> String? {
        texts.indices.contains(number - 1) ? texts[number - 1] : nil
    }

    // MARK: In the file

    /// The SQL of the edition that the file has.
    static let edition = "(SELECT words FROM grdb_cloudkit_control)"

    private static let read = Mutex<[Int64: Words]>([:])

    /// The words of the file.
    package static func current(_ database: Database) throws -> Words {
        let statement = try database.cachedStatement(sql: "SELECT \(edition)")
        return try of(Int64.fetchOne(statement) ?? 0, database)
    }

    /// The words of the edition that the file has.
    static func of(_ edition: Int64, _ database: Database) throws -> Words {
        if edition == 0 { return none }
        if let known = read.withLock({ $0[edition] }) { return known }
        let statement = try database.cachedStatement(
            sql: "SELECT text FROM grdb_cloudkit_word ORDER BY id"
        )
        let words = Words(edition: edition, texts: try String.fetchAll(statement))
        read.withLock { read in
            // Each is as good as the file, so that any may be read again.
            if read.count >= 16 { read.removeAll() }
            read[edition] = words
        }
        return words
    }

    /// The words of the file, to which others are added as far as there is room.
    ///
    /// - Parameters:
    ///   - others: What is to have numbers.
    ///   - database: The file, in a transaction that writes.
    ///   - areNeeded: Whether room is made for them.
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

    /// The SQL of the number that a word has.
    static func sql(_ text: String) -> String {
        "(SELECT id FROM grdb_cloudkit_word WHERE text = \(text))"
    }

    /// The SQL of the word that a column has the number of.
    static func sql(ofNumber column: String) -> String {
        "(SELECT text FROM grdb_cloudkit_word WHERE id = \(column))"
    }
}
