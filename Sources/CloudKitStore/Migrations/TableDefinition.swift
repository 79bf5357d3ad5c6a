import Foundation

/// The text of a `CREATE TABLE` statement, parsed enough to change column types.
struct TableDefinition {
    private var tokens: [SQLToken]

    init(_ sql: String) { tokens = SQLToken.tokens(sql) }

    var sql: String { tokens.map(\.text).joined() }

    /// The words that end a column's type.
    private static let constraints: Set<String> = [
        "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE",
        "REFERENCES", "GENERATED", "AS", "ON",
    ]

    /// Declares a column as text.
    ///
    /// - Parameters:
    ///   - column: The column's name.
    ///   - isKey: Whether it is the key, which may not be NULL.
    /// - Returns: Whether the statement declares the column.
    mutating func makeText(_ column: String, isKey: Bool) -> Bool {
        guard let place = declaration(of: column) else { return false }
        var end = place + 1
        var depth = 0
        while end < tokens.count {
            let token = tokens[end]
            if depth == 0, token.isWord(Self.constraints) { break }
            if token.kind == .mark {
                if token.text == "(" { depth += 1 }
                if depth == 0 { break }
                if token.text == ")" { depth -= 1 }
            }
            end += 1
        }
        tokens.replaceSubrange(place + 1..<end, with: [SQLToken(kind: .blank, text: " TEXT ")])
        if isKey { setKey(place) }
        return true
    }

    /// The constraints of a key for which SQLite makes an identifier wherever it made a number: where
    /// an insertion leaves the key out, and where it inserts NULL.
    private static let keyConstraints = """
         NOT NULL ON CONFLICT REPLACE DEFAULT (hex(randomblob(4)) || '-' || hex(randomblob(2)) \
        || '-4' || substr(hex(randomblob(2)), 2) || '-' || substr('89AB', 1 + (random() & 3), 1) \
        || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
        """

    /// Adds the constraints of a key to the column that a name declares.
    private mutating func setKey(_ place: Int) {
        var depth = 0
        let end = tokens[place...].firstIndex { token in
            guard token.kind == .mark else { return false }
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
            return depth < 0 || (depth == 0 && token.text == ",")
        }
        // Not into a comment: these count as blank space.
        let last = tokens[place + 2..<(end ?? tokens.endIndex)].lastIndex { $0.kind != .blank }
        // The last of several constraints applies.
        tokens.insert(
            SQLToken(kind: .blank, text: Self.keyConstraints),
            at: (last ?? place + 1) + 1
        )
        tokens.removeAll { $0.isWord(["AUTOINCREMENT"]) }
    }

    /// Returns the position of the name at which a column's declaration begins.
    private func declaration(of column: String) -> Int? {
        var depth = 0
        var isFirst = false
        for (place, token) in tokens.enumerated() {
            switch token.text {
            case "(" where token.kind == .mark:
                depth += 1
                isFirst = depth == 1
            case ")" where token.kind == .mark: depth -= 1
            case "," where token.kind == .mark: isFirst = depth == 1
            default:
                guard token.kind != .blank else { continue }
                let isName = token.kind == .quoted || token.kind == .word
                if depth == 1, isFirst, isName, token.name.lowercased() == column.lowercased() {
                    return place
                }
                isFirst = false
            }
        }
        return nil
    }
}
