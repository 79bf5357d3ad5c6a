import CloudKitStore
import Support

extension SimulationWriter {
    /// The names of labels, which are few, so that devices choose the same ones.
    private static let names = ["a", "b", "c"]

    /// The key of the row that is shared with its tree.
    static let root = "root"

    /// Returns the SQL of a variant's edit.
    func variantStatements(
        _ edit: SimulationStep.Edit,
        _ chance: inout SeededRandom
    ) -> [String] {
        // If there is no row to edit, one is inserted first.
        if let table = Self.table(of: edit), keys(table).isEmpty {
            return ["card", "board"].contains(table)
                ? insertCard(&chance) : insertEntry(&chance)
        }
        let value = "v\(number)"
        switch edit {
        case .insertLabel: return newLabel(&chance).sql
        case .colourLabel: return set("label", "colour", "'\(value)', since = \(odd)", &chance)
        case .deleteLabel: return delete("label", &chance)
        case .insertEntry: return insertEntry(&chance)
        case .titleEntry: return set("entry", "title", "'\(value)'", &chance)
        case .moveEntry:
            guard let label = randomKey("label", &chance) else { return [] }
            return set("entry", chance.chance(50) ? "label" : "second", "'\(label)'", &chance)
        case .deleteEntry: return delete("entry", &chance)
        case .insertPin:
            guard let label = randomKey("label", &chance) else { return [] }
            return ["INSERT INTO pin (id, label) VALUES ('p\(number)', '\(label)')"]
        case .movePin:
            guard let label = randomKey("label", &chance) else { return [] }
            return set("pin", "label", "'\(label)'", &chance)
        case .deletePin: return delete("pin", &chance)
        default: return sharedStatements(edit, &chance)
        }
    }

    private func sharedStatements(
        _ edit: SimulationStep.Edit,
        _ chance: inout SeededRandom
    ) -> [String] {
        let value = "v\(number)"
        switch edit {
        case .insertBoard:
            // Some start their own trees.
            let parent = chance.chance(75) ? randomKey("board", &chance) : nil
            let above = parent.map { "'\($0)'" } ?? "NULL"
            return [
                "INSERT INTO board (id, name, parent) VALUES ('b\(number)', '\(value)', \(above))"
            ]
        case .insertCard: return insertCard(&chance)
        case .renameBoard: return set("board", "name", "'\(value)'", &chance)
        case .cardTitle: return set("card", "title", "'\(value)', due = \(odd)", &chance)
        case .cardBody: return set("card", "body", "'\(value)'", &chance)
        case .moveCard: return moveCard(&chance)
        case .deleteBoard:
            // The root of the share stays.
            let boards = keys("board").filter { $0 != Self.root }
            guard let board = boards.randomElement(using: &chance) else { return [] }
            return ["DELETE FROM board WHERE id = '\(board)'"]
        case .deleteCard: return delete("card", &chance)
        default: return []
        }
    }

    /// Returns the table of an edit that needs one of its rows.
    private static func table(of edit: SimulationStep.Edit) -> String? {
        switch edit {
        case .colourLabel, .deleteLabel, .insertPin: "label"
        case .titleEntry, .moveEntry, .deleteEntry: "entry"
        case .movePin, .deletePin: "pin"
        case .renameBoard: "board"
        case .cardTitle, .cardBody, .moveCard, .deleteCard: "card"
        default: nil
        }
    }

    private func randomKey(_ table: String, _ chance: inout SeededRandom) -> String? {
        keys(table).randomElement(using: &chance)
    }

    // MARK: Unique names

    /// Returns a label with a name that this device does not show.
    private func newLabel(_ chance: inout SeededRandom) -> (key: String, sql: [String]) {
        let taken = contents.filter { $0.key.hasPrefix("label/") }.compactMap { $0.value["name"] }
        let names = Self.names.filter { !taken.contains(.text($0)) }
        guard let name = names.randomElement(using: &chance) else { return ("", []) }
        let sql =
            "INSERT INTO label (id, name, colour, since) VALUES "
            + "('l\(number)', '\(name)', 'v\(number)', \(odd))"
        return ("l\(number)", [sql])
    }

    private func insertEntry(_ chance: inout SeededRandom) -> [String] {
        var labels = keys("label")
        var sql: [String] = []
        if labels.isEmpty || chance.chance(30) {
            let made = newLabel(&chance)
            sql = made.sql
            if !sql.isEmpty { labels.append(made.key) }
        }
        guard let first = labels.randomElement(using: &chance),
            let second = labels.randomElement(using: &chance)
        else { return [] }
        let values = "'e\(number)', 'v\(number)', '\(first)', '\(second)'"
        return sql + ["INSERT INTO entry (id, title, label, second) VALUES (\(values))"]
    }

    // MARK: A shared tree

    private func insertCard(_ chance: inout SeededRandom) -> [String] {
        // A new branch with a card in it, a card on a board, or one without a board.
        let kind = chance.number(0...9)
        guard let parent = randomKey("board", &chance), kind > 0 else {
            return ["INSERT INTO card (id, title) VALUES ('c\(number)', 'v\(number)')"]
        }
        guard kind < 4 else {
            return [
                "INSERT INTO card (id, title, board) VALUES "
                    + "('c\(number)', 'v\(number)', '\(parent)')"
            ]
        }
        return [
            "INSERT INTO board (id, name, parent) VALUES ('b\(number)', 'w\(number)', '\(parent)')",
            "INSERT INTO card (id, title, body, board) VALUES "
                + "('c\(number)', 'v\(number)', 'x\(number)', 'b\(number)')",
        ]
    }

    /// Moves a card to another board, but not out of the shared tree, as in schedules of families:
    /// here both users must have the same rows of the tree.
    private func moveCard(_ chance: inout SeededRandom) -> [String] {
        guard let card = randomKey("card", &chance), let board = randomKey("board", &chance) else {
            return []
        }
        let isShared = Self.tree(contents).contains("card/\(card)")
        guard !isShared || Self.tree(contents).contains("board/\(board)") else { return [] }
        return ["UPDATE card SET board = '\(board)' WHERE id = '\(card)'"]
    }

    /// Returns the rows of the shared tree.
    static func tree(_ contents: SimulatedApp.Contents) -> Set<String> {
        Set(
            contents.keys.filter { row in
                var seen: Set<String> = []
                var next = row
                while seen.insert(next).inserted {
                    if next == "board/\(root)" { return true }
                    let fields = contents[next]
                    guard case .text(let above)? = fields?["parent"] ?? fields?["board"] else {
                        return false
                    }
                    next = "board/\(above)"
                }
                return false
            }
        )
    }
}
