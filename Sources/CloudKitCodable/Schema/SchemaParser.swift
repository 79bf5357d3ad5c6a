extension CloudKitSchema {
    /// Reads the schema language.
    ///
    /// - Throws: ``CloudKitSchemaError`` with the number of the line.
    public init(parsing text: String) throws {
        try self.init(parsing: text, keepsSystemFields: false)
    }

    /// Reads the schema language, with the system's fields where they are asked for.
    package init(parsing text: String, keepsSystemFields: Bool) throws {
        var parser = SchemaParser(text, keepsSystemFields: keepsSystemFields)
        recordTypes = try parser.recordTypes()
    }
}

/// Reads the schema language, as far as it says what record types have which fields.
private struct SchemaParser {
    private struct Token {
        let text: String
        let line: Int
        let isQuoted: Bool
    }

    private var tokens: [Token] = []
    private var position = 0
    private let keepsSystemFields: Bool

    init(_ text: String, keepsSystemFields: Bool) {
        self.keepsSystemFields = keepsSystemFields
        var rest = Substring(text)
        var line = 1
        while let character = rest.first {
            if rest.hasPrefix("//") || rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                let comment = rest.firstRange(of: "*/").map { rest[..<$0.upperBound] } ?? rest
                line += comment.count(where: \.isNewline)
                rest = rest[comment.endIndex...]
            } else if character.isWhitespace {
                line += character.isNewline ? 1 : 0
                rest.removeFirst()
            } else if character == "\"" {
                let name = rest.dropFirst().prefix { $0 != "\"" }
                tokens.append(Token(text: String(name), line: line, isQuoted: true))
                rest = rest[name.endIndex...].dropFirst()
            } else if "(),;<>".contains(character) {
                tokens.append(Token(text: String(character), line: line, isQuoted: false))
                rest.removeFirst()
            } else {
                let word = rest.prefix { !$0.isWhitespace && !"(),;<>\"".contains($0) }
                tokens.append(Token(text: String(word), line: line, isQuoted: false))
                rest = rest[word.endIndex...]
            }
        }
    }

    // MARK: Grammar

    mutating func recordTypes() throws -> [CloudKitSchema.RecordType] {
        try expect("DEFINE")
        try expect("SCHEMA")
        var types: [CloudKitSchema.RecordType] = []
        while position < tokens.count {
            if accept("RECORD") {
                try expect("TYPE")
                types.append(try recordType())
            } else {
                skipStatement()
            }
        }
        return types
    }

    private mutating func recordType() throws -> CloudKitSchema.RecordType {
        let name = try next("the name of a record type")
        var type = CloudKitSchema.RecordType(name: name, fields: [])
        try expect("(")
        while !accept(")") {
            if accept("GRANT") {
                while let token = peek, token != ",", token != ")" { position += 1 }
            } else {
                let field = try field()
                // The system's own fields are the same everywhere.
                if keepsSystemFields || !field.name.hasPrefix("_") { type.fields.append(field) }
            }
            if peek != ")" { try expect(",") }
        }
        _ = accept(";")
        return type
    }

    private mutating func field() throws -> CloudKitSchema.Field {
        let name = try next("the name of a field")
        var type = try next("the type of \(name)").uppercased()
        if type == "ENCRYPTED" { type += " " + (try next("the type of \(name)")).uppercased() }
        if type == "LIST" {
            try expect("<")
            type += "<" + (try next("the type of the elements of \(name)")).uppercased() + ">"
            try expect(">")
        }
        var indexes: [String] = []
        while let word = peek, word != ",", word != ")" {
            indexes.append(word.uppercased())
            position += 1
        }
        return CloudKitSchema.Field(name: name, type: type, indexes: indexes)
    }

    // MARK: Tokens

    private var peek: String? { position < tokens.count ? tokens[position].text : nil }

    private mutating func accept(_ word: String) -> Bool {
        guard position < tokens.count, !tokens[position].isQuoted,
            tokens[position].text.uppercased() == word
        else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ word: String) throws {
        guard accept(word) else { throw problem("expected \(word)") }
    }

    private mutating func next(_ what: String) throws -> String {
        guard let word = peek, !"(),;<>".contains(word) else { throw problem("expected \(what)") }
        position += 1
        return word
    }

    private mutating func skipStatement() {
        while let word = peek {
            position += 1
            if word == ";" { return }
        }
    }

    private func problem(_ expected: String) -> CloudKitSchemaError {
        let line = position < tokens.count ? tokens[position].line : tokens.last?.line ?? 1
        return CloudKitSchemaError("line \(line): \(expected), found \(peek ?? "the end")")
    }
}
