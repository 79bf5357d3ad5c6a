import Foundation

/// Cuts a format into tokens.
struct PredicateScanner {
    /// A piece of a format.
    struct Token {
        enum Kind: Equatable {
            /// A name: of a key, an operator or a function.
            case word(String)
            /// A name that is a key whatever it says, after `#` or for `%K`.
            case key(String)
            case string(String)
            case integer(Int64)
            case fraction(Double)
            /// An argument, by its place.
            case argument(Int)
            case variable(String)
            case symbol(String)
            case end
        }

        let kind: Kind
        /// Counted from 1.
        let position: Int
    }

    private let characters: [Character]
    private var index = 0
    private var argumentCount = 0
    private let arguments: [Any?]

    init(_ format: String, arguments: [Any?]) {
        characters = Array(format)
        self.arguments = arguments
    }

    /// All tokens, the end among them.
    mutating func tokens() throws(PredicateError) -> [Token] {
        var tokens: [Token] = []
        repeat { tokens.append(try next()) } while tokens.last?.kind != .end
        guard argumentCount == arguments.count else {
            throw PredicateError(
                "\(arguments.count) arguments for \(argumentCount) placeholders",
                at: nil
            )
        }
        return tokens
    }

    private var current: Character? { index < characters.count ? characters[index] : nil }

    private mutating func next() throws(PredicateError) -> Token {
        while let character = current, character.isWhitespace { index += 1 }
        let position = index + 1
        guard let character = current else { return Token(kind: .end, position: position) }
        let kind: Token.Kind
        switch character {
        case "'", "\"": kind = .string(try string(until: character))
        case "%": kind = try placeholder()
        case "$":
            index += 1
            kind = .variable(word())
        case "#":
            index += 1
            kind = .key(word())
        case _ where character.isASCII && character.isNumber: kind = try number()
        case _ where Self.startsWord(character): kind = .word(word())
        default: kind = .symbol(try symbol())
        }
        return Token(kind: kind, position: position)
    }

    // MARK: Words

    private static func startsWord(_ character: Character) -> Bool {
        character.isLetter || character == "_" || character == "@"
    }

    /// A name with dots, and with colons where it is a function's, as in
    /// `distanceToLocation:fromLocation:`.
    private mutating func word() -> String {
        let start = index
        while let character = current,
            Self.startsWord(character) || character.isNumber || character == "."
                || (character == ":" && isFunctionColon)
        {
            index += 1
        }
        return String(characters[start..<index])
    }

    /// Whether a parenthesis follows the rest of the name.
    private var isFunctionColon: Bool {
        var ahead = index
        while ahead < characters.count,
            Self.startsWord(characters[ahead]) || characters[ahead].isNumber
                || characters[ahead] == ":"
        {
            ahead += 1
        }
        return ahead < characters.count && characters[ahead] == "("
    }

    // MARK: Literals

    private mutating func string(until quote: Character) throws(PredicateError) -> String {
        let start = index + 1
        index += 1
        var text = ""
        while let character = current {
            index += 1
            if character == quote { return text }
            if character == "\\", let escaped = current {
                index += 1
                text.append(escaped == "n" ? "\n" : escaped == "t" ? "\t" : escaped)
            } else {
                text.append(character)
            }
        }
        throw PredicateError("The text is not closed with \(quote)", at: start)
    }

    private mutating func number() throws(PredicateError) -> Token.Kind {
        let start = index
        while let character = current {
            let isSign =
                (character == "-" || character == "+") && "eE".contains(characters[index - 1])
            guard character.isNumber || character == "." || character.isLetter || isSign else {
                break
            }
            index += 1
        }
        let text = String(characters[start..<index])
        if let integer = Int64(text) { return .integer(integer) }
        if text.hasPrefix("0x"), let integer = Int64(text.dropFirst(2), radix: 16) {
            return .integer(integer)
        }
        if let fraction = Double(text) { return .fraction(fraction) }
        throw PredicateError("\(text) is not a number", at: start + 1)
    }

    private mutating func placeholder() throws(PredicateError) -> Token.Kind {
        let start = index
        index += 1
        while let character = current, "hlqLzjt.0123456789".contains(character) { index += 1 }
        guard let conversion = current, "@KdDiuUxXofFeEgGcCsSpaA".contains(conversion) else {
            throw PredicateError("% is not followed by @, K or a number format", at: start + 1)
        }
        index += 1
        guard argumentCount < arguments.count else {
            throw PredicateError("There is no argument for this placeholder", at: start + 1)
        }
        defer { argumentCount += 1 }
        guard conversion == "K" else { return .argument(argumentCount) }
        guard let key = arguments[argumentCount] as? String else {
            throw PredicateError("The argument of %K is not the name of a key", at: start + 1)
        }
        return .key(key)
    }

    private mutating func symbol() throws(PredicateError) -> String {
        let rest = String(characters[index..<min(index + 2, characters.count)])
        for symbol in ["==", "=>", ">=", "=<", "<=", "!=", "<>", "&&", "||"] where rest == symbol {
            index += 2
            return symbol
        }
        guard let character = current, "=<>!(){}[],-+*/".contains(character) else {
            throw PredicateError("\"\(rest.prefix(1))\" means nothing here", at: index + 1)
        }
        index += 1
        return String(character)
    }
}
