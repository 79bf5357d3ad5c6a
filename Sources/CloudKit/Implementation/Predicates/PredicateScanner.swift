import Foundation

/// Splits a format into tokens, scalar by scalar, because a literal may begin with a mark that
/// combines with the quotation mark before it into one character.
struct PredicateScanner {
    /// A piece of a format.
    struct Token {
        enum Kind: Equatable {
            /// A name: of a key, an operator or a function.
            case word(String)
            /// A name that is always a key, after `#` or for `%K`.
            case key(String)
            case string(String)
            case integer(Int64)
            /// An integer beyond signed 64 bits.
            case magnitude(UInt64)
            case fraction(Double)
            /// An argument, by its index.
            case argument(Int)
            case variable(String)
            case symbol(String)
            case end
        }

        let kind: Kind
        /// The position, counted from 1.
        let position: Int
    }

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var argumentCount = 0
    private let arguments: [Any?]

    init(_ format: String, arguments: [Any?]) {
        scalars = Array(format.unicodeScalars)
        self.arguments = arguments
    }

    /// Returns all tokens, including the end.
    mutating func tokens() throws(PredicateError) -> [Token] {
        var tokens: [Token] = []
        repeat { tokens.append(try next()) } while tokens.last?.kind != .end
        guard argumentCount == arguments.count else {
            throw PredicateError(
                "\(arguments.count) arguments for \(argumentCount) placeholders",
                at: scalars.count + 1
            )
        }
        return tokens
    }

    private var current: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func next() throws(PredicateError) -> Token {
        while let scalar = current, scalar.properties.isWhitespace { index += 1 }
        let position = index + 1
        guard let scalar = current else { return Token(kind: .end, position: position) }
        let kind: Token.Kind
        switch scalar {
        case "'", "\"":
            index += 1
            var literal = PredicateLiteral(scalars, from: index)
            kind = .string(try literal.text(until: scalar))
            index = literal.index
        case "%": kind = try placeholder()
        case "$":
            index += 1
            kind = .variable(try name(after: position))
        case "#":
            index += 1
            kind = .key(try name(after: position))
        case "0"..."9": kind = try number()
        case _ where Self.startsWord(scalar): kind = .word(word())
        default: kind = .symbol(try symbol())
        }
        return Token(kind: kind, position: position)
    }

    // MARK: Words

    private static func startsWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar == "_" || scalar == "@"
    }

    private static func continuesWord(_ scalar: Unicode.Scalar) -> Bool {
        if startsWord(scalar) || scalar.properties.numericType != nil { return true }
        return switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    private mutating func name(after position: Int) throws(PredicateError) -> String {
        let name = word()
        guard !name.isEmpty else { throw PredicateError("A name is missing", at: position) }
        return name
    }

    /// Reads a name with dots, and with colons if it is a function's, as in
    /// `distanceToLocation:fromLocation:`.
    private mutating func word() -> String {
        let start = index
        while let scalar = current,
            Self.continuesWord(scalar) || scalar == "." || (scalar == ":" && isFunctionColon)
        {
            index += 1
        }
        return text(start..<index)
    }

    private func text(_ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
    }

    /// `true` when a parenthesis follows the rest of the name.
    private var isFunctionColon: Bool {
        var ahead = index
        while ahead < scalars.count, Self.continuesWord(scalars[ahead]) || scalars[ahead] == ":" {
            ahead += 1
        }
        return ahead < scalars.count && scalars[ahead] == "("
    }

    // MARK: Literals

    private mutating func number() throws(PredicateError) -> Token.Kind {
        let start = index
        while let scalar = current {
            let isSign =
                (scalar == "-" || scalar == "+")
                && (scalars[index - 1] == "e" || scalars[index - 1] == "E")
                && !isHexadecimal(start)
            guard scalar == "." || isSign || scalar != "_" && Self.continuesWord(scalar) else {
                break
            }
            index += 1
        }
        let text = text(start..<index)
        if let integer = Int64(text) { return .integer(integer) }
        if let integer = UInt64(text) { return .magnitude(integer) }
        if isHexadecimal(start), let integer = UInt64(text.dropFirst(2), radix: 16) {
            return Int64(exactly: integer).map { .integer($0) } ?? .magnitude(integer)
        }
        if let fraction = Double(text), fraction.isFinite { return .fraction(fraction) }
        throw PredicateError("\(text) is not a number", at: start + 1)
    }

    private func isHexadecimal(_ start: Int) -> Bool {
        start + 1 < scalars.count && scalars[start] == "0"
            && (scalars[start + 1] == "x" || scalars[start + 1] == "X")
    }

    private mutating func placeholder() throws(PredicateError) -> Token.Kind {
        let start = index
        index += 1
        while let scalar = current, "hlqLzjt.0123456789".unicodeScalars.contains(scalar) {
            index += 1
        }
        guard let conversion = current,
            "@KdDiuUxXofFeEgGcCsSpaA".unicodeScalars.contains(conversion)
        else {
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
        let rest = text(index..<min(index + 2, scalars.count))
        for symbol in ["==", "=>", ">=", "=<", "<=", "!=", "<>", "&&", "||"] where rest == symbol {
            index += 2
            return symbol
        }
        guard let scalar = current, "=<>!(){}[],-+*/".unicodeScalars.contains(scalar) else {
            throw PredicateError("\"\(rest.prefix(1))\" is unexpected here", at: index + 1)
        }
        index += 1
        return String(scalar)
    }
}
