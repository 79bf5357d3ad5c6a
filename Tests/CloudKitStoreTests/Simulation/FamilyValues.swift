import CloudKitStore
import GRDB

/// Values of every kind that SQLite can hold, in the cards of families, and what they must be on every
/// device.
///
/// They are written with the title alone, so that a title says which they are, byte by byte: whichever
/// edit of the title wins, theirs wins too.
struct FamilyValues: Sendable {
    /// The columns that are written together.
    static let columns = "title, due, amount, data"
    private static let names = ["due", "amount", "data"]
    /// More than the edits of a schedule.
    private static let numbers = 1...200

    /// What SQLite makes of the values of a number, by the title.
    private let expected: [String: [String: StoreValue]]
    /// How many numbers have a value in a column.
    private let counts: [String: [StoreValue: Int]]

    /// The SQL of the columns' values.
    static func sql(_ number: Int) -> String {
        "'v\(number)', \(SimulatedValue.sql(number)), "
            + "\(SimulatedValue.sql(number + 7)), \(SimulatedValue.sql(number + 13))"
    }

    init() throws {
        let database = try SimulatedApp.emptyFile()
        let rows = try database.write { database in
            try database.execute(sql: SimulatedApp.schema(.families))
            for number in Self.numbers {
                try database.execute(
                    sql: "INSERT INTO card (id, \(Self.columns)) "
                        + "VALUES ('c\(number)', \(Self.sql(number)))"
                )
            }
            return try SimulatedApp.contents(database, .families, isNew: false)
        }
        var expected: [String: [String: StoreValue]] = [:]
        var counts: [String: [StoreValue: Int]] = [:]
        for row in rows.values {
            guard case .text(let title)? = row["title"] else { continue }
            for name in Self.names {
                guard let value = row[name] else { continue }
                expected[title, default: [:]][name] = value
                counts[name, default: [:]][value, default: 0] += 1
            }
        }
        self.expected = expected
        self.counts = counts
    }

    /// The cards whose values are others than those that were written with the title.
    ///
    /// An edit that writes a value which is there already changes nothing, so that another's may win:
    /// a value that several numbers have may be any that was written.
    func problems(in rows: SimulatedApp.Contents) -> [String] {
        rows.sorted { $0.key < $1.key }.flatMap { key, row -> [String] in
            guard key.hasPrefix("card/"), case .text(let title)? = row["title"] else { return [] }
            return Self.names.compactMap { name in
                let value = row[name] ?? .null
                guard let right = expected[title]?[name] else { return "\(key) as \(title)" }
                let isRight =
                    counts[name]?[right] == 1 ? value == right : counts[name]?[value] != nil
                return isRight ? nil : "\(name) of \(key) as \(value), not \(right)"
            }
        }
    }
}
