import Foundation

/// The text of a `CREATE TABLE` statement, parsed enough to change column types.
struct TableDefinition {
    /// A word, a name, a string, a comment, a mark or blank space.
    private struct Token {
        enum Kind {
            case word
            case quoted
            case mark
            case blank
        }

        var kind: Kind
        var text: String

        /// The name that the token represents.
        var name: String {
            guard kind == .quoted, let first = text.first else { return text }
            let inner = String(text.dropFirst().dropLast())
            return first == "[" ? inner : inner.replacing("\(first)\(first)", with: "\(first)")
        }

        func isWord(_ words: Set<String>) -> Bool {
            kind == .word && words.contains(text.uppercased())
        }
    }

    private var tokens: [Token]

    init(_ sql: String) { tokens = Self.tokens(sql) }

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
        let type = isKey ? " TEXT NOT NULL " : " TEXT "
        tokens.replaceSubrange(place + 1..<end, with: [Token(kind: .blank, text: type)])
        if isKey { tokens.removeAll { $0.isWord(["AUTOINCREMENT"]) } }
        return true
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

    private static func tokens(_ sql: String) -> [Token] {
        var tokens: [Token] = []
        var rest = sql[...]
        while let first = rest.first {
            let (kind, text) = next(rest, first)
            tokens.append(Token(kind: kind, text: String(text)))
            rest = rest[text.endIndex...]
        }
        return tokens
    }

    private static func next(_ rest: Substring, _ first: Character) -> (Token.Kind, Substring) {
        if first.isWhitespace { return (.blank, rest.prefix(while: \.isWhitespace)) }
        if rest.hasPrefix("--") { return (.blank, rest.prefix { !$0.isNewline }) }
        if rest.hasPrefix("/*") {
            let end = rest.dropFirst(2).range(of: "*/")?.upperBound ?? rest.endIndex
            return (.blank, rest[..<end])
        }
        if let close = ["\"": "\"", "'": "'", "`": "`", "[": "]"][String(first)]?.first {
            var place = rest.index(after: rest.startIndex)
            while place < rest.endIndex {
                let after = rest.index(after: place)
                if rest[place] == close {
                    guard close != "]", after < rest.endIndex, rest[after] == close else {
                        return (.quoted, rest[..<after])
                    }
                    place = rest.index(after: after)
                } else {
                    place = after
                }
            }
            return (.quoted, rest)
        }
        if first.isLetter || first.isNumber || first == "_" {
            return (.word, rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" })
        }
        return (.mark, rest.prefix(1))
    }
}
