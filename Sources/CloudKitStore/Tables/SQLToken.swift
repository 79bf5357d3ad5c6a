/// A token of an SQL statement: a word, a name, a string, a comment, a mark or blank space.
struct SQLToken {
    enum Kind {
        case word
        case quoted
        case mark
        /// Blank space, or a comment.
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

    /// Returns whether the token is one of some keywords, given in capitals.
    func isWord(_ words: Set<String>) -> Bool {
        kind == .word && words.contains(text.uppercased())
    }

    /// Returns the tokens of a statement, which together are its text.
    static func tokens(_ sql: String) -> [SQLToken] {
        var tokens: [SQLToken] = []
        var rest = sql[...]
        while let first = rest.first {
            let (kind, text) = next(rest, first)
            tokens.append(SQLToken(kind: kind, text: String(text)))
            rest = rest[text.endIndex...]
        }
        return tokens
    }

    private static func next(_ rest: Substring, _ first: Character) -> (Kind, Substring) {
        if first.isWhitespace { return (.blank, rest.prefix(while: \.isWhitespace)) }
        if rest.hasPrefix("--") { return (.blank, rest.prefix { !$0.isNewline }) }
        if rest.hasPrefix("/*") {
            let end = rest.dropFirst(2).firstRange(of: "*/")?.upperBound ?? rest.endIndex
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
