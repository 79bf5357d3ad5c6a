/// Splits the text of a schema into tokens.
struct SchemaLexer {
    /// A token of the text, with its position.
    struct Token: Hashable {
        enum Kind: Hashable {
            /// An unquoted word: a keyword or a name.
            case word
            /// A quoted name.
            case quoted
            /// One of `( ) , ; < >`.
            case mark
            case end
        }

        var kind: Kind
        var text: String
        var line: Int
        var column: Int

        /// The text and the position, for callers that do not need the kind.
        var word: SchemaWord { SchemaWord(text: text, line: line, column: column) }

        /// Returns whether this is a keyword, in any letter case.
        func isKeyword(_ keyword: String) -> Bool {
            kind == .word && text.uppercased() == keyword
        }

        func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }
    }

    private var rest: Substring.UnicodeScalarView
    private var line = 1
    private var column = 1

    init(_ text: String) {
        rest = text[...].unicodeScalars
    }

    /// Returns the next token; at the end of the text, every call returns `end`.
    mutating func next() throws(SchemaParsingError) -> Token {
        try skipBlanks()
        let (line, column) = (line, column)
        func token(_ kind: Token.Kind, _ text: String) -> Token {
            Token(kind: kind, text: text, line: line, column: column)
        }
        guard let first = rest.first else { return token(.end, "the end of the text") }
        if first == "\"" { return token(.quoted, try quoted()) }
        if "(),;<>".unicodeScalars.contains(first) {
            advance()
            return token(.mark, String(first))
        }
        guard Self.isLetter(first) else {
            throw SchemaParsingError(
                line: line,
                column: column,
                message: "Encountered '\(first)'; names with characters other than letters, "
                    + "digits and underscores must be in double quotes"
            )
        }
        var word = String.UnicodeScalarView()
        while let scalar = rest.first, Self.isLetter(scalar) || Self.isInner(scalar) {
            word.append(scalar)
            advance()
        }
        return token(.word, String(word))
    }

    private mutating func quoted() throws(SchemaParsingError) -> String {
        let (line, column) = (line, column)
        advance()
        var name = String.UnicodeScalarView()
        while let scalar = rest.first {
            advance()
            if scalar == "\"" { return String(name) }
            name.append(scalar)
        }
        throw SchemaParsingError(
            line: line,
            column: column,
            message: "The quotation mark is never closed"
        )
    }

    private mutating func skipBlanks() throws(SchemaParsingError) {
        while let first = rest.first {
            let second = rest.dropFirst().first
            if first.properties.isWhitespace {
                advance()
            } else if (first == "/" && second == "/") || (first == "-" && second == "-") {
                while let scalar = rest.first, scalar != "\n" { advance() }
            } else if first == "/", second == "*" {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(SchemaParsingError) {
        let (line, column) = (line, column)
        advance()
        advance()
        while let first = rest.first {
            let isEnd = first == "*" && rest.dropFirst().first == "/"
            advance()
            if isEnd {
                advance()
                return
            }
        }
        throw SchemaParsingError(line: line, column: column, message: "The comment is never closed")
    }

    private mutating func advance() {
        guard let scalar = rest.popFirst() else { return }
        if scalar == "\n" {
            line += 1
            column = 1
        } else {
            column += 1
        }
    }

    /// Returns whether a name needs no quotation marks.
    static func isPlain(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, isLetter(first) else { return false }
        return name.unicodeScalars.allSatisfy { isLetter($0) || isInner($0) }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    private static func isInner(_ scalar: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(scalar) || scalar == "_"
    }
}
