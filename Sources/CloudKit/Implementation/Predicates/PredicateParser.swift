import Foundation

/// Parses a format into a tree.
struct PredicateParser {
    private let tokens: [PredicateScanner.Token]
    private let arguments: [Any?]
    private var index = 0
    /// The number of levels around the current position.
    private var depth = 0
    /// The maximum number of levels so far.
    private var deepest = 0

    /// Parses a format with its arguments.
    ///
    /// - Returns: The tree, and the number of its nesting levels.
    /// - Throws: `PredicateError` with the invalid position.
    static func parse(
        _ format: String,
        arguments: [Any?]
    ) throws(PredicateError) -> (tree: PredicateTree, levels: Int) {
        do {
            var scanner = PredicateScanner(format, arguments: arguments)
            var parser = PredicateParser(tokens: try scanner.tokens(), arguments: arguments)
            return (try parser.whole(), parser.deepest)
        } catch {
            var error = error
            error.format = format
            throw error
        }
    }

    private init(tokens: [PredicateScanner.Token], arguments: [Any?]) {
        self.tokens = tokens
        self.arguments = arguments
    }

    private var current: PredicateScanner.Token { tokens[index] }

    private mutating func advance() {
        if index + 1 < tokens.count { index += 1 }
    }

    /// Consumes one of these words or symbols, in upper case; returns whether it did.
    private mutating func take(_ expected: String...) -> Bool {
        switch current.kind {
        case .word(let text) where expected.contains(text.uppercased()),
            .symbol(let text) where expected.contains(text):
            advance()
            return true
        default: return false
        }
    }

    private mutating func expect(_ symbol: String) throws(PredicateError) {
        guard take(symbol) else {
            throw PredicateError("\"\(symbol)\" is missing", at: current.position)
        }
    }

    // MARK: Compounds

    private mutating func whole() throws(PredicateError) -> PredicateTree {
        let tree = try alternatives()
        guard current.kind == .end else {
            throw PredicateError("The predicate should end here", at: current.position)
        }
        return tree
    }

    private mutating func alternatives() throws(PredicateError) -> PredicateTree {
        var parts = [try conjunction()]
        let position = current.position
        while take("OR", "||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts, position: position)
    }

    private mutating func conjunction() throws(PredicateError) -> PredicateTree {
        var parts = [try negation()]
        while take("AND", "&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    /// Enters one more level at a position; the caller leaves it again.
    private mutating func enter(at position: Int) throws(PredicateError) {
        guard depth < PredicateTree.depthLimit else { throw .tooDeep(at: position) }
        depth += 1
        deepest = max(deepest, depth)
    }

    private mutating func negation() throws(PredicateError) -> PredicateTree {
        let position = current.position
        if take("NOT", "!") {
            try enter(at: position)
            defer { depth -= 1 }
            return .not(try negation(), position: position)
        }
        if take("TRUEPREDICATE") { return .truth(true) }
        if take("FALSEPREDICATE") { return .truth(false) }
        guard current.kind == .symbol("(") else { return try comparison() }
        let start = index
        do {
            advance()
            try enter(at: position)
            defer { depth -= 1 }
            let tree = try alternatives()
            try expect(")")
            return tree
        } catch {
            // The parenthesis may be a part of the comparison's left side.
            index = start
            // The first error is the one to report, if this fails as well.
            if let tree = try? comparison() { return tree }
            throw error
        }
    }

    // MARK: Comparisons

    private mutating func comparison() throws(PredicateError) -> PredicateTree {
        var modifier = PredicateComparison.Modifier.direct
        if take("ANY", "SOME") {
            modifier = .any
        } else if take("ALL") {
            modifier = .all
        } else if take("NONE") {
            modifier = .none
        }
        let left = try expression()
        let position = current.position
        let `operator` = try comparator()
        let options = try self.options()
        return .comparison(
            PredicateComparison(
                modifier: modifier,
                left: left,
                operator: `operator`,
                options: options,
                right: try expression(),
                position: position
            )
        )
    }

    private static let symbols: [String: PredicateComparison.Operator] = [
        "=": .equals, "==": .equals, "!=": .notEquals, "<>": .notEquals, "<": .lessThan,
        "<=": .lessThanOrEquals, "=<": .lessThanOrEquals, ">": .greaterThan,
        ">=": .greaterThanOrEquals, "=>": .greaterThanOrEquals,
    ]

    private mutating func comparator() throws(PredicateError) -> PredicateComparison.Operator {
        switch current.kind {
        case .symbol(let text):
            if let found = Self.symbols[text] {
                advance()
                return found
            }
        case .word(let text):
            if let found = PredicateComparison.Operator(rawValue: text.uppercased()) {
                advance()
                return found
            }
        default: break
        }
        throw PredicateError(
            "A comparison is missing, such as ==, <, BEGINSWITH, CONTAINS or IN",
            at: current.position
        )
    }

    private mutating func options() throws(PredicateError) -> Set<Character> {
        guard take("[") else { return [] }
        // c ignores case, d accents; n and l concern text comparison on other systems.
        let position = current.position
        guard case .word(let word) = current.kind, case let letters = Set(word.lowercased()),
            letters.isSubset(of: ["c", "d", "n", "l"])
        else {
            throw PredicateError(
                "The options in the brackets are of the letters c, d, n and l, such as [cd]",
                at: position
            )
        }
        advance()
        try expect("]")
        return letters.intersection(["c", "d"])
    }

    // MARK: Expressions

    private mutating func expression() throws(PredicateError) -> PredicateExpression {
        let token = current
        let position = token.position
        advance()
        switch token.kind {
        case .string(let text): return .value(.field(.string(text)), position: position)
        case .integer(let integer): return .value(.field(.int64(integer)), position: position)
        case .magnitude(let integer):
            return .value(.field(.unsigned(integer)), position: position)
        case .fraction(let double): return .value(.field(.double(double)), position: position)
        case .argument(let place):
            return .value(PredicateValue(argument: arguments[place]), position: position)
        case .key(let key): return .key(key, position: position)
        case .variable(let name): return .variable(name, position: position)
        case .word(let word): return try named(word, at: position)
        case .symbol("{"): return .list(try list(until: "}", from: position), position: position)
        case .symbol("-"): return try negative(at: position)
        case .symbol("("):
            try enter(at: position)
            defer { depth -= 1 }
            let inner = try expression()
            try expect(")")
            return inner
        case .symbol, .end:
            throw PredicateError("A key or a value is missing", at: position)
        }
    }

    private mutating func named(
        _ word: String,
        at position: Int
    ) throws(PredicateError) -> PredicateExpression {
        if take("(") {
            let arguments = try list(until: ")", from: position)
            try Self.check(arguments.count, for: word, at: position)
            return .function(word, arguments, position: position)
        }
        return switch word.uppercased() {
        case "NIL", "NULL": .value(.null, position: position)
        case "TRUE", "YES": .value(.field(.int64(1)), position: position)
        case "FALSE", "NO": .value(.field(.int64(0)), position: position)
        case "SELF": .object(position: position)
        default:
            .key(
                word.uppercased().hasPrefix("SELF.") ? String(word.dropFirst(5)) : word,
                position: position
            )
        }
    }

    /// The supported functions, with their numbers of arguments.
    private static let functions: [String: (counts: ClosedRange<Int>, form: String)] = [
        "now": (0...0, "now()"), "CAST": (2...2, "CAST(seconds, 'NSDate')"),
        "distanceToLocation:fromLocation:": (
            2...2, "distanceToLocation:fromLocation:(field, location)"
        ),
        "tokenize:using:": (1...2, "tokenize:using:(text, options)"),
    ]

    private static func check(
        _ count: Int,
        for function: String,
        at position: Int
    ) throws(PredicateError) {
        guard let known = functions[function], !known.counts.contains(count) else { return }
        throw PredicateError(
            "\(function) with \(count) argument\(count == 1 ? "" : "s"); write \(known.form)",
            at: position
        )
    }

    private mutating func list(
        until end: String,
        from position: Int
    ) throws(PredicateError) -> [PredicateExpression] {
        try enter(at: position)
        defer { depth -= 1 }
        var elements: [PredicateExpression] = []
        guard !take(end) else { return elements }
        repeat { elements.append(try expression()) } while take(",")
        try expect(end)
        return elements
    }

    private mutating func negative(at position: Int) throws(PredicateError) -> PredicateExpression {
        try enter(at: position)
        defer { depth -= 1 }
        switch try expression() {
        case .value(.field(.int64(let integer)), _):
            // The smallest integer has no opposite.
            guard integer != .min else {
                return .value(.field(.unsigned(1 << 63)), position: position)
            }
            return .value(.field(.int64(-integer)), position: position)
        case .value(.field(.unsigned(let integer)), _):
            guard integer == 1 << 63 else {
                throw PredicateError(
                    "-\(integer) is below \(Int64.min), the smallest whole number",
                    at: position
                )
            }
            return .value(.field(.int64(.min)), position: position)
        case .value(.field(.double(let double)), _):
            return .value(.field(.double(-double)), position: position)
        default: throw PredicateError("Only numbers can be negative", at: position)
        }
    }
}
