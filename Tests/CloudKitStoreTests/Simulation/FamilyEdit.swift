import CloudKitStore
import Support

/// What a user of a family writes.
enum FamilyEdit {
    /// The SQL of an edit by chance.
    ///
    /// A board is only put below an older one, so that no two are below each other, whoever moves
    /// them.
    static func sql(
        _ contents: SimulatedApp.Contents,
        _ number: Int,
        _ chance: inout SeededChance
    ) -> String {
        let boards = keys("board", contents)
        let cards = keys("card", contents)
        let board = boards.randomElement(using: &chance)
        let value = "'v\(number)'"
        guard let board, chance.chance(85) else {
            let above = chance.chance(60) ? literal(board) : "NULL"
            return "INSERT INTO board (id, name, parent) "
                + "VALUES ('\(key(number))', \(value), \(above))"
        }
        let card = cards.randomElement(using: &chance)
        guard let card, chance.chance(72) else {
            let above = chance.chance(90) ? literal(board) : "NULL"
            return "INSERT INTO card (id, title, board) VALUES ('c\(number)', \(value), \(above))"
        }
        switch chance.number(0...99) {
        case 0..<12: return "UPDATE board SET name = \(value) WHERE id = '\(board)'"
        case 12..<40:
            let older = boards.filter { $0 < board }.randomElement(using: &chance)
            let above = chance.chance(75) ? literal(older) : "NULL"
            return "UPDATE board SET parent = \(above) WHERE id = '\(board)'"
        case 40..<62: return "UPDATE card SET title = \(value) WHERE id = '\(card)'"
        case 62..<70: return "UPDATE card SET body = \(value) WHERE id = '\(card)'"
        case 70..<86:
            let above = chance.chance(85) ? literal(board) : "NULL"
            return "UPDATE card SET board = \(above) WHERE id = '\(card)'"
        case 86..<93: return "DELETE FROM card WHERE id = '\(card)'"
        case 93..<96: return "DELETE FROM board WHERE id = '\(board)'"
        default:
            return "DELETE FROM card WHERE id = '\(card)'; "
                + "INSERT INTO card (id, title, board) VALUES ('\(card)', \(value), \(literal(board)))"
        }
    }

    /// Keys in the order of their making.
    private static func key(_ number: Int) -> String {
        "b" + String(repeating: "0", count: 4 - "\(number)".count) + "\(number)"
    }

    private static func literal(_ key: String?) -> String { key.map { "'\($0)'" } ?? "NULL" }

    private static func keys(_ table: String, _ contents: SimulatedApp.Contents) -> [String] {
        contents.keys.filter { $0.hasPrefix(table + "/") }
            .map { String($0.dropFirst(table.count + 1)) }.sorted()
    }
}
