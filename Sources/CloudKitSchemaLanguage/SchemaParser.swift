/// A parser of the schema language ("Integrating a Text-Based Schema into Your Workflow") that
/// reads one statement at a time.
package struct SchemaParser {
    private var lexer: SchemaLexer
    private var token: SchemaLexer.Token

    /// Creates a parser and reads the words with which every schema begins.
    ///
    /// - Throws: `SchemaParsingError` when the text begins differently.
    package init(_ text: String) throws(SchemaParsingError) {
        lexer = SchemaLexer(text)
        token = try lexer.next()
        try keyword("DEFINE")
        try keyword("SCHEMA")
    }

    /// Reads a statement; returns `nil` at the end of the text.
    ///
    /// - Throws: `SchemaParsingError` with the first position that the grammar does not allow.
    package mutating func next() throws(SchemaParsingError) -> SchemaStatement? {
        guard token.kind != .end else { return nil }
        let statement: SchemaStatement =
            token.isKeyword("CREATE") ? .role(try role()) : .recordType(try recordType())
        try mark(";")
        return statement
    }

    // MARK: Statements

    private mutating func role() throws(SchemaParsingError) -> SchemaWord {
        try keyword("CREATE")
        try keyword("ROLE")
        return try name()
    }

    private mutating func recordType() throws(SchemaParsingError) -> SchemaRecordType {
        try keyword("RECORD")
        try keyword("TYPE")
        let name = try name()
        var members: [SchemaRecordType.Member] = []
        try mark("(")
        while true {
            members.append(token.isKeyword("GRANT") ? .grant(try grant()) : .field(try field()))
            guard try acceptComma() else { break }
        }
        try mark(")")
        return SchemaRecordType(name: name, members: members)
    }

    private mutating func grant() throws(SchemaParsingError) -> SchemaGrant {
        try keyword("GRANT")
        var permissions: [SchemaGrant.Permission] = []
        while true {
            guard let permission = SchemaGrant.Permission(rawValue: token.text.uppercased()) else {
                throw expected("READ, CREATE or WRITE")
            }
            permissions.append(permission)
            try advance()
            guard try acceptComma() else { break }
        }
        try keyword("TO")
        return SchemaGrant(permissions: permissions, role: try name())
    }

    // MARK: Fields

    private mutating func field() throws(SchemaParsingError) -> SchemaField {
        let name = try name()
        let isList = token.isKeyword("LIST")
        let isEncrypted = token.isKeyword("ENCRYPTED")
        if isList || isEncrypted { try advance() }
        if isList { try mark("<") }
        let type = try type()
        let preference = try preference(of: type)
        if isList { try mark(">") }
        return SchemaField(
            name: name,
            isList: isList,
            isEncrypted: isEncrypted,
            type: type,
            preference: preference,
            indexes: try indexes()
        )
    }

    private mutating func type() throws(SchemaParsingError) -> SchemaWord {
        guard token.kind == .word else { throw expected("a type") }
        let type = token.word
        try advance()
        return type
    }

    private mutating func preference(
        of type: SchemaWord
    )
        throws(SchemaParsingError) -> SchemaNumber?
    {
        guard type.text.uppercased() == "NUMBER", token.isKeyword("PREFERRED") else { return nil }
        try advance()
        try keyword("AS")
        guard let number = SchemaNumber(rawValue: token.text.uppercased()) else {
            throw expected("INT64 or DOUBLE")
        }
        try advance()
        return number
    }

    private mutating func indexes() throws(SchemaParsingError) -> [SchemaField.Index] {
        var indexes: [SchemaField.Index] = []
        while token.kind == .word {
            guard let kind = SchemaField.Index.Kind(rawValue: token.text.uppercased()) else {
                throw expected("QUERYABLE, SORTABLE, SEARCHABLE, ',' or ')'")
            }
            indexes.append(SchemaField.Index(kind: kind, word: token.word))
            try advance()
        }
        return indexes
    }

    // MARK: Tokens

    private mutating func name() throws(SchemaParsingError) -> SchemaWord {
        guard token.kind == .word || token.kind == .quoted, !token.text.isEmpty else {
            throw expected("a name")
        }
        let name = token.word
        try advance()
        return name
    }

    private mutating func keyword(_ keyword: String) throws(SchemaParsingError) {
        guard token.isKeyword(keyword) else { throw expected("\"\(keyword)\"") }
        try advance()
    }

    private mutating func mark(_ mark: String) throws(SchemaParsingError) {
        guard token.isMark(mark) else { throw expected("\"\(mark)\"") }
        try advance()
    }

    /// Reads a comma if there is one, and returns whether there was.
    private mutating func acceptComma() throws(SchemaParsingError) -> Bool {
        guard token.isMark(",") else { return false }
        try advance()
        return true
    }

    private mutating func advance() throws(SchemaParsingError) { token = try lexer.next() }

    private func expected(_ what: String) -> SchemaParsingError {
        SchemaParsingError("Encountered \"\(token.text)\". Was expecting \(what)", at: token.word)
    }
}
