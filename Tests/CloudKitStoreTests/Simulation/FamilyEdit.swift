import CloudKitStore
import Support

/// The writes of a family's user.
struct FamilyEdit {
    /// Returns the SQL of a random edit.
    ///
    /// A board is only put below an older one, so that no two boards are below each other, whoever
    /// moves them.
    ///
    /// - Parameters:
    ///   - contents: The rows of the device.
    ///   - number: The number that makes the edit's values unique.
    ///   - sharesKeys: Whether new rows have one of a few keys instead of that number.
    ///   - replaces: Whether some edits replace rows.
    ///   - chance: The source of random numbers.
    /// - Returns: The SQL.
    static func sql(
        _ contents: SimulatedApp.Contents,
        _ number: Int,
        sharesKeys: Bool,
        replaces: Bool,
        _ chance: inout SeededRandom
    ) -> String {
        let key = sharesKeys ? chance.number(1...5) : number
        var edit = FamilyEdit(contents, number, key: key, chance)
        defer { chance = edit.chance }
        guard !edit.boards.isEmpty, edit.chance.chance(88) else { return edit.insertBoard() }
        guard !edit.cards.isEmpty, edit.chance.chance(76) else { return edit.insertCard() }
        // Drawn last, so that the schedules without it are the same as before.
        if replaces, edit.chance.chance(20) { return edit.replace() }
        return edit.change()
    }

    /// Two trees of rows with every kind of reference to each other.
    static let beginning = """
        INSERT INTO board (id, name, parent)
            VALUES ('b0001', 'One', NULL), ('b0002', 'Two', NULL), ('b0003', 'Below', 'b0001');
        INSERT INTO card (id, title, due, board, related, origin)
            VALUES ('c4', 'v4', \(SimulatedValue.sql(4)), 'b0002', NULL, NULL),
                ('c5', 'v5', \(SimulatedValue.sql(5)), 'b0001', 'c4', NULL),
                ('c6', 'v6', \(SimulatedValue.sql(6)), 'b0003', NULL, 'c4'),
                ('c7', 'v7', \(SimulatedValue.sql(7)), 'b0002', 'c6', 'c5');
        INSERT INTO link (id, title, board, needed) VALUES ('l8', 'v8', 'b0001', 'c4');
        INSERT INTO pin (id, title, board, card) VALUES ('p9', 'v9', 'b0003', 'c7');
        """

    private let number: Int
    /// The number in the key of a new row.
    private let key: Int
    private let boards: [String]
    private let cards: [String]
    private let links: [String]
    private let pins: [String]
    private var chance: SeededRandom

    private init(
        _ contents: SimulatedApp.Contents,
        _ number: Int,
        key: Int,
        _ chance: SeededRandom
    ) {
        self.number = number
        self.key = key
        self.chance = chance
        func keys(_ table: String) -> [String] {
            contents.keys.filter { $0.hasPrefix(table + "/") }
                .map { String($0.dropFirst(table.count + 1)) }.sorted()
        }
        boards = keys("board")
        cards = keys("card")
        links = keys("link")
        pins = keys("pin")
    }

    // MARK: Edits

    private mutating func insertBoard() -> String {
        "INSERT INTO board (id, name, parent) "
            + "VALUES ('\(boardKey)', \(value), \(any(boards.filter { $0 < boardKey }, percent: 60)))"
    }

    private mutating func insertCard() -> String {
        "INSERT INTO card (id, title, due, board, related, origin) "
            + "VALUES ('c\(key)', \(value), \(due), \(any(boards, percent: 90)), "
            + "\(any(cards, percent: 40)), \(any(cards, percent: 25)))"
    }

    private mutating func change() -> String {
        switch chance.number(0...99) {
        case 0..<6: update("board", boards, "name", value)
        case 6..<24: moveBoard()
        case 24..<32: update("card", cards, "title", "\(value), due = \(due)")
        case 32..<35: update("card", cards, "body", value)
        case 35..<43: update("card", cards, "board", any(boards, percent: 85))
        case 43..<51: update("card", cards, "related", any(cards, percent: 75))
        case 51..<58: update("card", cards, "origin", any(cards, percent: 75))
        case 58..<66: insert("link", "l", "needed")
        case 66..<70: insert("pin", "p", "card")
        case 70..<73: update("link", links, "needed", any(cards, percent: 100))
        case 73..<76: update("link", links, "board", any(boards, percent: 85))
        case 76..<78: update("pin", pins, "card", any(cards, percent: 100))
        case 78..<80: update("pin", pins, "board", any(boards, percent: 85))
        case 80..<89: delete("card", cards)
        case 89..<93: delete("board", boards)
        case 93..<96: delete("pin", pins)
        case 96..<97: delete("link", links)
        default: makeAnew()
        }
    }

    private mutating func moveBoard() -> String {
        let board = pick(boards)
        let above = any(boards.filter { $0 < board }, percent: 75)
        return "UPDATE board SET parent = \(above) WHERE id = '\(board)'"
    }

    private mutating func update(
        _ table: String,
        _ keys: [String],
        _ column: String,
        _ value: String
    ) -> String {
        "UPDATE \(table) SET \(column) = \(value) WHERE id = '\(pick(keys))'"
    }

    private mutating func insert(_ table: String, _ letter: String, _ column: String) -> String {
        "INSERT INTO \(table) (id, title, board, \(column)) VALUES ('\(letter)\(key)', \(value), "
            + "\(any(boards, percent: 90)), \(any(cards, percent: 100)))"
    }

    private mutating func delete(_ table: String, _ keys: [String]) -> String {
        "DELETE FROM \(table) WHERE id = '\(pick(keys))'"
    }

    private mutating func makeAnew() -> String {
        let card = pick(cards)
        return "DELETE FROM card WHERE id = '\(card)'; INSERT INTO card (id, title, due, board) "
            + "VALUES ('\(card)', \(value), \(due), \(any(boards, percent: 100)))"
    }

    /// Returns a replacement of a row by one with the same key, to which the rows below it, or that
    /// refer to it, do what the schema says of a deletion.
    private mutating func replace() -> String {
        guard chance.chance(50) else {
            let card = pick(cards)
            return "REPLACE INTO card (id, title, due, board) "
                + "VALUES ('\(card)', \(value), \(due), \(any(boards, percent: 85)))"
        }
        let board = pick(boards)
        let above = any(boards.filter { $0 < board }, percent: 60)
        return "REPLACE INTO board (id, name, parent) VALUES ('\(board)', \(value), \(above))"
    }

    // MARK: Values

    private var value: String { "'v\(number)'" }

    /// The due date that belongs to a card's title, and whose number identifies it.
    private var due: String { SimulatedValue.sql(number) }

    /// Returns the key of a board; keys are in the order of their creation.
    static func boardKey(_ number: Int) -> String {
        "b" + String(repeating: "0", count: 4 - "\(number)".count) + "\(number)"
    }

    private var boardKey: String { Self.boardKey(key) }

    private mutating func pick(_ keys: [String]) -> String {
        keys.randomElement(using: &chance) ?? ""
    }

    /// Returns one of some keys, or NULL.
    private mutating func any(_ keys: [String], percent: Int) -> String {
        guard chance.chance(percent), let key = keys.randomElement(using: &chance) else {
            return "NULL"
        }
        return "'\(key)'"
    }
}
